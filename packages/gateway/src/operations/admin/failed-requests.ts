import type { KV } from '@turnpike/core'
import { isUuid } from '@turnpike/core/helpers'
import { pageBelow } from '@turnpike/core/internal'
import { Paging } from '@turnpike/http'
import * as v from 'valibot'
import { notFound } from '../../errors.js'
import { operation } from '../../operation.js'
import { RequestEvent } from '../../records/request-events.js'
import { failedKey, idAt } from '../../records/request-history.js'

/** A page of the failed requests that are kept. */
export const FailedRequests = v.object({
  /** The last that began first. */
  data: v.array(RequestEvent),
  /** The `after` of the next page; absent on the last one. */
  next: v.optional(v.string()),
})
export type FailedRequests = v.InferOutput<typeof FailedRequests>

const Query = v.object({
  /** Only requests that began before this time, in ISO 8601; `after` has precedence. */
  before: v.optional(v.pipe(v.string(), v.isoTimestamp())),
  ...Paging.entries,
})

/** GET /admin/failed-requests */
export const adminFailedRequests = (kv: KV) =>
  operation({
    id: 'admin.failed-requests',
    summary: 'Lists requests of the last seven days that failed, newest first, without what they said.',
    access: 'admin',
    query: Query,
    output: FailedRequests,
    async run(_, { query: { before, after = before && idAt(before), limit } }): Promise<FailedRequests> {
      const { items, next } = await pageBelow<RequestEvent>(kv, ['failed-request'], { after, limit, reverse: true })
      return { data: items.map(({ value }) => value), next }
    },
  })

/** GET /admin/failed-requests/{id} */
export const adminFailedRequest = (kv: KV) =>
  operation({
    id: 'admin.failed-requests.get',
    summary: 'Tells of one request of the last seven days that failed.',
    access: 'admin',
    params: v.object({ id: v.string() }),
    errors: [404],
    output: RequestEvent,
    async run(_, { params: { id } }) {
      const found = isUuid(id) ? await kv.get<RequestEvent>(failedKey(id.toLowerCase())) : null
      if (!found) throw notFound('failed request')
      return found.value
    },
  })
