import { jsonArray, Paging } from '@turnpike/http'
import * as v from 'valibot'
import { notFound } from '../errors.js'
import { name } from '../keys/key-fields.js'
import { operation } from '../operation.js'
import { IdParams, Token, viewOf } from '../schemas.js'
import { dateOf, Time } from '../time.js'
import { SCOPES } from './scopes.js'
import type { TokenOperations } from './tokens.js'

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
    async run(caller, { body: { name, scopes, expiresAt } }, { again }) {
      const expires = expiresAt == null ? null : dateOf(expiresAt)
      return tokenView(await tokens.create(caller!.user.id, { name, scopes, expiresAt: expires }, again))
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
