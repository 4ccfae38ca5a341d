import type { BlobStore } from '@turnpike/core'
import type { Asked, Guard } from '@turnpike/gateway'

/** Keeps prompts and answers of callers who consent to it, by `store: true`, in a bucket: `USER/REQUEST.json`. */
export function keep(bucket: BlobStore): Guard {
  const consenting = new WeakSet<Asked>()
  return {
    name: 'keep',
    request(asked) {
      if (asked.task !== 'chat') return undefined
      const { store, ...request } = asked.request
      if (store === true) consenting.add(asked)
      // The caller consents to this bucket, and not to that of a provider.
      return { request }
    },
    answer(answered) {
      if (!consenting.has(answered)) return
      const { user_id, request_id, request, answer } = answered
      const body = new TextEncoder().encode(JSON.stringify({ request, answer }))
      // Not awaited, and no error of the answer: it does not wait for the bucket, nor fail with it.
      const options = { type: 'application/json', maxBytes: body.length }
      bucket.put(`${user_id}/${request_id}.json`, body, options).catch(console.error)
    },
  }
}
