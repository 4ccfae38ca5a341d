import type { Note } from '@turnpike/core'

/** Fields by which some compatible servers, such as proxies, let a caller decide where they send a request and with which credential. */
const routingFields = [
  'api_base',
  'api_key',
  'api_version',
  'base_url',
  'custom_llm_provider',
  'extra_body',
  'extra_headers',
  'extra_query',
]

/** Removes the routing fields from the copy of a request that is sent to the upstream, with a note for each. */
export function dropRouting(body: Record<string, unknown>, notes: Note[]): void {
  for (const field of routingFields)
    if (body[field] !== undefined) {
      body[field] = undefined
      notes.push({ field, action: 'dropped' })
    }
}
