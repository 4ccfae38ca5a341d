import type { Usage } from '@turnpike/core'
import { isObject } from '@turnpike/core/helpers'
import { count } from '../answers/count.js'
import { usageJoiner } from '../answers/later-usage.js'

/** Token counts as the upstream reports them; each may be null. */
export type UpstreamUsage = Record<string, unknown>

/** Values of `service_tier`, `inference_geo` and `speed` that leave the price as it is. */
const standard: unknown[] = ['standard', 'global', 'not_available', null]

const unlessStandard = (value: unknown): unknown => (standard.includes(value) ? undefined : value)

/** The iterations that the other counts leave out (Claude's docs, "Compaction" and "Advisor tool"). */
const apart: unknown[] = ['compaction', 'advisor_message']

const countsOf = (usage: UpstreamUsage) => {
  const { ephemeral_1h_input_tokens: hour, ...others } = isObject(usage['cache_creation'])
    ? usage['cache_creation']
    : {}
  const anHour = count(hour) ?? 0
  const kept = Object.values(others).reduce<number>((sum, value) => sum + (count(value) ?? 0), anHour)
  return {
    input: count(usage['input_tokens']) ?? 0,
    // Some servers have only the counts by life time.
    written: Math.max(count(usage['cache_creation_input_tokens']) ?? 0, kept),
    anHour,
    cached: count(usage['cache_read_input_tokens']) ?? 0,
    output: count(usage['output_tokens']) ?? 0,
  }
}

/**
 * Joins the reports of one stream, each with {@link usageJoiner}'s cost. Kimi and Qwen begin with the whole prompt as `input_tokens`, of which they
 * tell only at the end what was cached: beside the rest of it, or in OpenAI's form (maximhq/bifrost#5510, jeremychone/rust-genai#258).
 */
export function reportJoiner(): (later: UpstreamUsage) => UpstreamUsage {
  const join = usageJoiner<UpstreamUsage>()
  const usage = join({})
  return (later) => {
    const [before, now] = [countsOf(usage), countsOf(later)]
    join(later)
    const cache = now.cached + now.written
    if (cache === 0 || before.cached + before.written > 0) return usage
    if ([before.input, later['prompt_tokens']].includes(now.input + cache)) usage['input_tokens'] = now.input
    else if (isObject(later['prompt_tokens_details'])) usage['input_tokens'] = Math.max(before.input - cache, 0)
    return usage
  }
}

/** `prompt_tokens` is the sum of three disjoint counts: uncached input, tokens written to the cache and tokens read from it. */
export function toUsage(usage: UpstreamUsage): Usage {
  const counts = countsOf(usage)
  const iterations = Array.isArray(usage['iterations']) ? (usage['iterations'] as unknown[]).filter(isObject) : []
  for (const iteration of iterations)
    if (apart.includes(iteration['type']))
      for (const [name, value] of Object.entries(countsOf(iteration))) counts[name as keyof typeof counts] += value
  const { input, written, anHour, cached, output: completion_tokens } = counts
  const prompt_tokens = input + written + cached
  const details = usage['output_tokens_details'] as { thinking_tokens?: unknown } | null | undefined
  const server = usage['server_tool_use']
  return {
    prompt_tokens,
    completion_tokens,
    total_tokens: prompt_tokens + completion_tokens,
    service_tier: unlessStandard(usage['service_tier']),
    inference_geo: unlessStandard(usage['inference_geo']),
    speed: unlessStandard(usage['speed']),
    server_tool_use: isObject(server) && Object.values(server).some((value) => count(value)) ? server : undefined,
    prompt_tokens_details: {
      cached_tokens: cached,
      cache_write_tokens: written,
      cache_write_1h_tokens: anHour || undefined,
    },
    completion_tokens_details: { reasoning_tokens: count(details?.thinking_tokens) ?? 0 },
  }
}
