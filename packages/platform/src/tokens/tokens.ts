import type { Act } from '@turnpike/core'
import { isUuid } from '@turnpike/core/helpers'
import { invalid } from '@turnpike/core/internal'
import { MOST_TOKENS } from '../conventions.js'
import type { Paging as PagingInput } from '../pages.js'
import type { Parts } from '../parts.js'
import type { NewToken as TokenInput } from './stored-tokens.js'
import { createToken, deleteToken, deleteTokens, listTokens } from './stored-tokens.js'

/** What users can do with their tokens for programs, without HTTP. */
export function tokenOperations({ kv, dataBytes, logged, now }: Parts) {
  return {
    /**
     * @param again as of an {@link Act}
     * @throws ApiError 400 for an end that is over, 403 where the user has no more tokens or no space for its data
     */
    async create(userId: string, input: TokenInput, again?: Act['again']) {
      if (input.expiresAt && input.expiresAt.getTime() <= now()) throw invalid('expiresAt must be a time in the future')
      const limits = { tokens: MOST_TOKENS, bytes: dataBytes }
      return logged('token.create', userId, (by) => createToken(kv, userId, input, { limits, by, now: now(), again }))
    },
    /** A page of the tokens of a user, newest first. */
    list: (userId: string, page?: PagingInput) => listTokens(kv, userId, page),
    /** Ends a token at once. False if the user has none with this id. */
    revoke: (userId: string, id: string): Promise<boolean> =>
      logged('token.revoke', userId, async (by) => isUuid(id) && deleteToken(kv, userId, id, { by, now: now() })),
    /** Ends all tokens of a user. */
    revokeAll: (userId: string, act: Act = {}) => deleteTokens(kv, userId, { now: now(), ...act }),
  }
}

export type TokenOperations = ReturnType<typeof tokenOperations>
