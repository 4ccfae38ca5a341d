import type { Capability } from '@turnpike/core'

const capabilities: Capability[] = ['chat', 'tools', 'vision', 'json_schema', 'reasoning']

/** The maximum output tokens of each listed chat model. Unlisted ids can be requested as well. */
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
  Object.keys(catalogue).map((id) => [id, capabilities]),
)

/** Whether a model id matches the family: `claude-…`. */
export const isAnthropicModel = (model: string): boolean => model.startsWith('claude-')

/** The features that a model supports. */
export interface Traits {
  /** Maximum output tokens; undefined if unknown. */
  maxOutput: number | undefined
  /** Whether it accepts `temperature`, `top_p` and `top_k`. */
  sampling: boolean
  /** Whether it accepts `temperature` together with `top_p`; models since Opus 4.1 do not. */
  bothSamplings: boolean
  /** How thinking is configured: by an effort, by a token budget, or not at all. */
  thinking: 'effort' | 'budget' | 'none'
  /** Whether thinking cannot be disabled. */
  alwaysThinks: boolean
  /** Whether it has the effort `xhigh` between `high` and `max`. */
  xhigh: boolean
  /** Whether it supports structured outputs and strict tools, which enforce a JSON Schema. */
  schemas: boolean
}

/** The version assumed for an id without one. */
const ASSUMED = 4.5

/** The maximum output tokens of the newest models. */
const NEWEST_OUTPUT = 128_000

/**
 * Derives the features of a model from its id; a newer version than the known ones is treated as the latest (ruling 53).
 * @param told the maximum output tokens of a model that is not known, as somebody else tells them
 */
export function traitsOf(model: string, told?: number): Traits {
  const undated = model.replace(/-(\d{8}|latest|0)$/, '')
  const [, major, minor = '0'] = /^claude-(?:[a-z]+-)?(\d+)(?:[-.](\d{1,2})(?!\d))?/.exec(undated) ?? []
  const alwaysThought = /fable|mythos/.test(undated)
  const version = major ? Number(major) + Number(minor) / 10 : alwaysThought ? 5 : ASSUMED
  return {
    maxOutput: catalogue[undated] ?? earlier[undated] ?? told ?? (version > 4.6 ? NEWEST_OUTPUT : undefined),
    sampling: version <= 4.6,
    bothSamplings: version < 4.1,
    thinking: version >= 4.6 ? 'effort' : version >= 3.7 ? 'budget' : 'none',
    alwaysThinks: alwaysThought || version > 5,
    xhigh: version > 4.6,
    schemas: version >= 4.5 || version === 4.1,
  }
}
