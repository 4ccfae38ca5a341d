import type { Usage } from '../schemas/chat.js'
import type { UnitClass, Units } from './price.js'

const count = (reported: unknown): number =>
  Number.isFinite(reported) && (reported as number) > 0 ? Math.trunc(reported as number) : 0

/** Sets the units of a class to the reported count, at most `left`. @returns the rest of `left` */
function take(units: Units, name: UnitClass, reported: unknown, left: number): number {
  const part = Math.min(count(reported), left)
  if (part > 0) units[name] = part
  return left - part
}

type Details = Record<string, unknown>
const none: Details = {}

/**
 * Splits the tokens of a usage into disjoint classes. Those of the prompt always add up to `prompt_tokens`, and those of the completion
 * to `completion_tokens`, even if the reported details do not.
 * @example const units = unitsOf({ prompt_tokens: 9, completion_tokens: 3, total_tokens: 12 })
 */
export function unitsOf(usage: Usage): Units {
  const prompt = (usage['prompt_tokens_details'] as Details | null | undefined) ?? none
  const completion = (usage['completion_tokens_details'] as Details | null | undefined) ?? none
  const written = count(prompt['cache_write_tokens'])
  const forAnHour = Math.min(count(prompt['cache_write_1h_tokens']), written)
  const units: Units = {}
  let input = usage.prompt_tokens
  input = take(units, 'cache_read', prompt['cached_tokens'], input)
  input = take(units, 'cache_write_1h', forAnHour, input)
  input = take(units, 'cache_write', written - forAnHour, input)
  input = take(units, 'input_audio', prompt['audio_tokens'], input)
  input = take(units, 'input_image', prompt['image_tokens'], input)
  if (input > 0) units.input = input
  let output = usage.completion_tokens
  output = take(units, 'reasoning', completion['reasoning_tokens'], output)
  output = take(units, 'output_audio', completion['audio_tokens'], output)
  output = take(units, 'output_image', completion['image_tokens'], output)
  if (output > 0) units.output = output
  return units
}
