import type { Usage } from '../schemas/chat.js'
import type { UnitClass, Units } from './price.js'

const count = (told: unknown): number =>
  Number.isFinite(told) && (told as number) > 0 ? Math.trunc(told as number) : 0

/** Puts a whole into its parts, each cut down to what those before it left; the remainder is `rest`. */
function split(units: Units, whole: number, parts: [UnitClass, unknown][], rest: UnitClass): void {
  let left = whole
  for (const [name, told] of parts) {
    const part = Math.min(count(told), left)
    if (part > 0) units[name] = part
    left -= part
  }
  if (left > 0) units[rest] = left
}

/**
 * The disjoint classes of a usage, in tokens; those of the prompt add up to `prompt_tokens` and those of the completion to
 * `completion_tokens`, whatever its details say.
 */
export function unitsOf(usage: Usage): Units {
  const prompt = (usage['prompt_tokens_details'] ?? {}) as Record<string, unknown>
  const completion = (usage['completion_tokens_details'] ?? {}) as Record<string, unknown>
  const written = count(prompt['cache_write_tokens'])
  const forAnHour = Math.min(count(prompt['cache_write_1h_tokens']), written)
  const units: Units = {}
  split(
    units,
    usage.prompt_tokens,
    [
      ['cache_read', prompt['cached_tokens']],
      ['cache_write_1h', forAnHour],
      ['cache_write', written - forAnHour],
      ['input_audio', prompt['audio_tokens']],
      ['input_image', prompt['image_tokens']],
    ],
    'input',
  )
  split(
    units,
    usage.completion_tokens,
    [
      ['reasoning', completion['reasoning_tokens']],
      ['output_audio', completion['audio_tokens']],
      ['output_image', completion['image_tokens']],
    ],
    'output',
  )
  return units
}
