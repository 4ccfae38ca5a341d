import type { Note } from '@turnpike/core'
import type { Upstream } from '../upstream/upstream.js'

/** Whether a name may have another spelling in lower case. */
const mayDiffer = /[^a-z\d_]/

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

/**
 * Removes the routing fields from the copy of a request that is sent to an upstream, with a note for each.
 * @param upstream whose name of the model is set, where it has one of its own
 */
export function route(body: Record<string, unknown>, notes: Note[], upstream?: Upstream): void {
  if (upstream?.nameOf) body['model'] = upstream.nameOf(body['model'] as string)
  const drop = (field: string): void => {
    body[field] = undefined
    notes.push({ field, action: 'dropped' })
  }
  for (const field of routingFields) if (body[field] !== undefined) drop(field)
  // Servers in Go do not tell upper from lower case, nor `ſ` from `s`.
  for (const field in body)
    if (mayDiffer.test(field) && routingFields.includes(field.toUpperCase().toLowerCase())) drop(field)
}
