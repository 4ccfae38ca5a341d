import type { Usage } from '@turnpike/core'
import { count } from '../count.js'

/** Token counts as the upstream reports them; each may be null. */
export type UpstreamUsage = Record<string, unknown>

/** Values of `service_tier`, `inference_geo` and `speed` that leave the price as it is. */
const standard: unknown[] = ['standard', 'global', 'not_available', null]

const unlessStandard = (value: unknown): unknown => (standard.includes(value) ? undefined : value)

/** `prompt_tokens` is the sum of three disjoint counts: uncached input, tokens written to the cache and tokens read from it. */
export function toUsage(usage: UpstreamUsage): Usage {
  const written = count(usage['cache_creation_input_tokens']) ?? 0
  const cached = count(usage['cache_read_input_tokens']) ?? 0
  const prompt_tokens = (count(usage['input_tokens']) ?? 0) + written + cached
  const completion_tokens = count(usage['output_tokens']) ?? 0
  const details = usage['output_tokens_details'] as { thinking_tokens?: unknown } | null | undefined
  const kept = usage['cache_creation'] as { ephemeral_1h_input_tokens?: unknown } | null | undefined
  return {
    prompt_tokens,
    completion_tokens,
    total_tokens: prompt_tokens + completion_tokens,
    service_tier: unlessStandard(usage['service_tier']),
    inference_geo: unlessStandard(usage['inference_geo']),
    speed: unlessStandard(usage['speed']),
    prompt_tokens_details: {
      cached_tokens: cached,
      cache_write_tokens: written,
      cache_write_1h_tokens: count(kept?.ephemeral_1h_input_tokens) || undefined,
    },
    completion_tokens_details: { reasoning_tokens: count(details?.thinking_tokens) ?? 0 },
  }
}
