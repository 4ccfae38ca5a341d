import type { Act } from '@turnpike/core'
import { invalid, isUuid } from '@turnpike/core/internal'
import { jsonArray, Paging } from '@turnpike/http'
import * as v from 'valibot'
import { MOST_TOKENS } from '../conventions.js'
import type { Paging as PagingInput } from '../entities/pages.js'
import type { NewToken as TokenInput } from '../entities/tokens.js'
import { createToken, deleteToken, deleteTokens, listTokens } from '../entities/tokens.js'
import { notFound } from '../errors.js'
import { operation } from '../operation.js'
import type { Parts } from '../parts.js'
import { IdParams, Token, viewOf } from '../schemas.js'
import { SCOPES } from '../scopes.js'
import { dateOf, Time } from '../time.js'
import { name } from './key-fields.js'

/** What users can do with their tokens for programs, without HTTP. */
export function tokenOperations({ kv, dataBytes, logged, now }: Parts) {
  return {
    /** @throws ApiError 400 for an end that is over, 403 where the user has no more tokens or no space for its data */
    async create(userId: string, input: TokenInput) {
      if (input.expiresAt && input.expiresAt.getTime() <= now()) throw invalid('expiresAt must be a time in the future')
      const limits = { tokens: MOST_TOKENS, bytes: dataBytes }
      return logged('token.create', userId, (by) => createToken(kv, userId, input, { limits, by, now: now() }))
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

const tokenView = viewOf(Token)

/** The body of POST /api/tokens. */
const NewToken = v.object({
  name,
  /** What the token is good for. */
  scopes: v.pipe(
    v.array(v.picklist(SCOPES)),
    v.nonEmpty(),
    v.check((scopes) => new Set(scopes).size === scopes.length, 'expected each scope once'),
  ),
  /** Default never. */
  expiresAt: v.nullish(Time),
})

/** POST /api/tokens */
export const tokensCreate = (tokens: TokenOperations) =>
  operation({
    id: 'tokens.create',
    summary:
      'Makes a token, by which a program acts as its user, as far as its scopes go. Its value is in this answer only.',
    access: 'user',
    aliases: { expires_at: 'expiresAt' },
    body: NewToken,
    example: { name: 'worker', scopes: ['tasks:write', 'gateway:write'] },
    output: Token,
    errors: [403],
    async run(caller, { body: { name, scopes, expiresAt } }) {
      const expires = expiresAt == null ? null : dateOf(expiresAt)
      return tokenView(await tokens.create(caller!.user.id, { name, scopes, expiresAt: expires }))
    },
  })

/** GET /api/tokens */
export const tokensList = (tokens: TokenOperations) =>
  operation({
    id: 'tokens.list',
    summary: "The caller's tokens for programs, newest first, without their values.",
    access: 'user',
    query: Paging,
    output: v.array(Token),
    answerHeaders: ['Link'],
    run: (caller, { query }, call) =>
      jsonArray(query, call, async (page) => {
        const { items, next } = await tokens.list(caller!.user.id, page)
        return { items: items.map(tokenView), next }
      }),
  })

/** DELETE /api/tokens/{id} */
export const tokensRevoke = (tokens: TokenOperations) =>
  operation({
    id: 'tokens.revoke',
    summary: 'Ends a token at once.',
    access: 'user',
    params: IdParams,
    errors: [404],
    async run(caller, { params: { id } }) {
      if (!(await tokens.revoke(caller!.user.id, id))) throw notFound('token')
    },
  })
