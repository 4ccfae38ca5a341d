import type { Capability } from '@turnpike/core'

/** The capabilities of all models of the family. */
export const anthropicCapabilities: Capability[] = ['chat', 'tools', 'vision', 'json_schema', 'reasoning']

/** The maximum output tokens of each listed chat model. Unlisted ids can be requested as well. Source: the models' pages of Claude's docs, November 2026. */
const catalogue: Record<string, number> = {
  'claude-haiku-4-5': 64_000,
  'claude-haiku-5-5': 128_000,
  'claude-sonnet-4-5': 64_000,
  'claude-sonnet-4-6': 64_000,
  'claude-sonnet-5': 128_000,
  'claude-sonnet-5-5': 128_000,
  'claude-opus-4-5': 64_000,
  'claude-opus-4-6': 128_000,
  'claude-opus-4-7': 128_000,
  'claude-opus-4-8': 128_000,
  'claude-opus-5': 128_000,
  'claude-opus-5-5': 128_000,
  'claude-fable-5': 128_000,
  'claude-fable-5-1': 128_000,
  'claude-fable-5-2': 128_000,
}

/** The maximum output tokens of models that are no longer listed but may still be available. */
const earlier: Record<string, number> = {
  'claude-opus-4-1': 32_000,
  'claude-opus-4': 32_000,
  'claude-sonnet-4': 64_000,
}

/** The listed models of the family with their capabilities. */
export const anthropicCatalogue: Record<string, Capability[]> = Object.fromEntries(
  Object.keys(catalogue).map((id) => [id, anthropicCapabilities]),
)

const ofFamily = /^(?:[a-z.-]*\.)?claude-/

/** Whether a model id matches the family: `claude-…`, also as Bedrock has it: `us.anthropic.claude-…`. */
export const isAnthropicModel = (model: string): boolean => ofFamily.test(model)

/**
 * The id of a model in Anthropic's own spelling, without a date. Servers of the Messages API have others: Bedrock
 * (`us.anthropic.claude-opus-4-6-v1:0`), Vertex AI (`claude-opus-4-5@20251101`) and OpenRouter (`anthropic/claude-opus-4.6:thinking`).
 */
const plainId = (model: string): string =>
  model
    .replace(/^.*[./](?=claude-)/, '')
    .replace(/(-v\d+)?(:\w+)?$/, '')
    .replace(/[-@](\d{8}|latest|default|0)$/, '')
    .replace(/(\d)\.(\d)/, '$1-$2')

/** The features of a model. */
export interface Traits {
  /** Maximum output tokens; undefined if unknown. */
  maxOutput: number | undefined
  /** Whether it accepts `temperature`, `top_p` and `top_k`. */
  sampling: boolean
  /** Whether it accepts `temperature` together with `top_p`. */
  bothSamplings: boolean
  /** How thinking is configured: by an effort, by a token budget, or not at all. */
  thinking: 'effort' | 'budget' | 'none'
  /** Whether it thinks where a request does not mention thinking. */
  thinksByDefault: boolean
  /** The `thinking.type` that turns thinking off; undefined if it cannot be turned off. */
  unthinking: 'disabled' | 'between_tools' | undefined
  /** Whether it has the effort `xhigh` between `high` and `max`. */
  xhigh: boolean
  /** Whether it supports structured outputs and strict tools, which enforce a JSON Schema. */
  schemas: boolean
  /** Whether it continues an assistant message that comes last. */
  prefill: boolean
  /** Whether a `tool_choice` can force a call. */
  forced: boolean
  /** Whether its thoughts are bound to what precedes them in the conversation: system prompt, tools and messages. */
  bound: boolean
}

/** Claude 3, the oldest generation. */
const first: Traits = {
  maxOutput: undefined,
  sampling: true,
  bothSamplings: true,
  thinking: 'none',
  thinksByDefault: false,
  unthinking: 'disabled',
  xhigh: false,
  schemas: false,
  prefill: true,
  forced: true,
  bound: false,
}

/**
 * What changes from a version on, in all models or in those whose id has a name. Later rows prevail, and a version that is not known has the
 * features of the newest known one before it. Sources, in Claude's docs of November 2026: "Troubleshooting thinking", "Effort",
 * "Preserved thinking", "Structured outputs", and the migration guides of each model since 4.6.
 */
const changes: [from: number, changed: Partial<Traits>, name?: RegExp][] = [
  [3.7, { thinking: 'budget' }],
  [4.1, { bothSamplings: false, schemas: true }],
  [4.5, { maxOutput: 64_000 }],
  [4.6, { thinking: 'effort', prefill: false }],
  [4.7, { maxOutput: 128_000, sampling: false, xhigh: true }],
  [5, { thinksByDefault: true }],
  [5, { unthinking: undefined }, /fable|mythos/],
  [5.1, { unthinking: undefined, forced: false, bound: true }],
  [5.1, { unthinking: 'between_tools' }, /sonnet/],
  [5.1, { unthinking: 'disabled', forced: true }, /haiku/],
]

/** The version assumed for an id without one, whose limits are unknown; Fable and Mythos begin with 5. */
const ASSUMED = 4.4

/**
 * Derives the features of a model from its id.
 * @param maxOutput the maximum output tokens of a model that is not known, as somebody else tells them
 */
export function traitsOf(model: string, maxOutput?: number): Traits {
  const id = plainId(model)
  const [, major, minor = '0'] = /^claude-(?:[a-z]+-)?(\d+)(?:-(\d{1,2})(?!\d))?/.exec(id) ?? []
  let version = /fable|mythos/.test(id) ? 5 : ASSUMED
  if (major) version = Number(major) + Number(minor) / 10
  // An alias of the newest version (OpenRouter).
  else if (/^claude-[a-z]+$/.test(id) && model.includes('-latest')) version = Infinity
  const traits = { ...first }
  for (const [from, changed, name] of changes)
    if (version >= from && (name?.test(id) ?? true)) Object.assign(traits, changed)
  traits.maxOutput = catalogue[id] ?? earlier[id] ?? maxOutput ?? traits.maxOutput
  return traits
}
