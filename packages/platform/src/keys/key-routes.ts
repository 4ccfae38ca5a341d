import type { GatewayKey as StoredKey, PageOptions } from '@turnpike/core'
import { jsonArray, jsonList, Paging, whole } from '@turnpike/http'
import * as v from 'valibot'
import { MOST_OVERLAP_S } from '../conventions.js'
import { found, notFound } from '../errors.js'
import { operation } from '../operation.js'
import { GatewayKey, IdParams } from '../schemas.js'
import { periodOf, Time } from '../time.js'
import { KeysUsage } from '../usage/usage-schemas.js'
import { none, sum, usageView } from '../usage/usage-view.js'
import { aliases, changeOf, KeyPatch, NewKey } from './key-fields.js'
import type { KeyOperations } from './keys.js'

const keyView = ({
  id,
  name,
  rate_limit,
  token_limit,
  end_users,
  models,
  budget,
  expires_at,
  rotated_at,
  revoked,
  key_end,
  created_at,
}: StoredKey) => ({
  id,
  name,
  rate_limit,
  ...(token_limit !== undefined && { token_limit }),
  ...(models && { models }),
  ...(budget && { budget }),
  ...(end_users && { end_users }),
  ...(expires_at !== undefined && { expires_at }),
  ...(rotated_at !== undefined && { rotated_at }),
  revoked,
  ...(key_end !== undefined && { key_end }),
  created_at,
})

/** POST /api/keys */
export const keysCreate = (keys: KeyOperations) =>
  operation({
    id: 'keys.create',
    summary: 'Makes a gateway key. Its value is in this answer only.',
    access: 'developer',
    aliases,
    body: NewKey,
    example: { name: 'laptop' },
    output: GatewayKey,
    errors: [403],
    async run(caller, { body }, { again }) {
      const { id } = caller!.user
      const made = await keys.create(id, { ...changeOf(body), name: body.name }, { by: id, again })
      return { ...keyView(made), key: made.key }
    },
  })

/** GET /api/keys */
export const keysList = (keys: KeyOperations) =>
  operation({
    id: 'keys.list',
    summary: "The caller's gateway keys, newest first, without their values.",
    access: 'developer',
    query: Paging,
    output: v.array(GatewayKey),
    answerHeaders: ['Link'],
    run: (caller, { query }, call) =>
      jsonArray(query, call, async (page) => {
        const { items, next } = await keys.list(caller!.user.id, page)
        const view = ({ last_used_at, budget_used_usd: used, ...key }: (typeof items)[number]) => ({
          ...keyView(key),
          last_used_at,
          ...(used !== undefined && { budget_used_usd: used }),
        })
        return { items: items.map(view), next }
      }),
  })

/** PATCH /api/keys/{id} */
export const keysUpdate = (keys: KeyOperations) =>
  operation({
    id: 'keys.update',
    summary: "Changes the given fields of a gateway key of the caller's, or for administrators of anybody's.",
    access: 'developer',
    params: IdParams,
    aliases,
    body: KeyPatch,
    example: { rateLimit: 120 },
    output: GatewayKey,
    errors: [403, 404],
    run: async (caller, { params: { id }, body }, { again }) =>
      keyView(found('key', await keys.update(caller!.user, id, changeOf(body), again))),
  })

/** POST /api/keys/{id}/rotate */
export const keysRotate = (keys: KeyOperations) =>
  operation({
    id: 'keys.rotate',
    summary: 'Makes a gateway key in place of one, which works for a while longer. Its value is in this answer only.',
    access: 'developer',
    params: IdParams,
    query: v.object({
      /** Seconds for which the old key still works; default a day. */
      overlap: v.optional(whole(0, MOST_OVERLAP_S)),
    }),
    output: GatewayKey,
    errors: [403, 404],
    async run(caller, { params: { id }, query: { overlap } }, { again }) {
      const made = found('key', await keys.rotate(caller!.user, id, overlap, again))
      return { ...keyView(made), key: made.key }
    },
  })

/** DELETE /api/keys/{id} */
export const keysRevoke = (keys: KeyOperations) =>
  operation({
    id: 'keys.revoke',
    summary: 'Revokes a gateway key; it stays in the list.',
    access: 'developer',
    params: IdParams,
    errors: [404],
    async run(caller, { params: { id } }) {
      const user = caller!.user.id
      if (!(await keys.revoke(user, id, { by: user }))) throw notFound('key')
    },
  })

/** GET /api/keys/usage */
export const keysUsage = (keys: KeyOperations) =>
  operation({
    id: 'keys.usage',
    summary: "What the caller's keys have used, over all time or in whole hours from `from` to `to`.",
    access: 'developer',
    query: v.object({ from: v.optional(Time), to: v.optional(Time) }),
    output: KeysUsage,
    run(caller, { query }) {
      const period = periodOf(query)
      let total = none
      const read = async (page: PageOptions) => {
        const { items, next } = await keys.usage(caller!.user.id, period, page)
        total = items.reduce((all, { totals }) => sum(all, totals), total)
        return { items: items.map(({ key: { id, name }, totals }) => ({ id, name, ...usageView(totals) })), next }
      }
      return jsonList({}, 'keys', read, () => usageView(total))
    },
  })
