import type { Capability } from '@turnpike/core'

const capabilities: Capability[] = ['chat', 'tools', 'vision', 'json_schema', 'reasoning']

/** The chat models of the family that are listed, with the most tokens that each gives out; ids that are not listed work as well. */
const catalogue: Record<string, number> = {
  'claude-haiku-4-5': 64_000,
  'claude-sonnet-4-5': 64_000,
  'claude-sonnet-4-6': 64_000,
  'claude-sonnet-5': 128_000,
  'claude-opus-4-5': 64_000,
  'claude-opus-4-6': 128_000,
  'claude-opus-4-8': 128_000,
  'claude-fable-5': 128_000,
}

/** The same of models that are not listed any more, but may still answer. */
const earlier: Record<string, number> = {
  'claude-opus-4-1': 32_000,
  'claude-opus-4': 32_000,
  'claude-sonnet-4': 64_000,
}

/** What each listed model can do. */
export const anthropicCatalogue: Record<string, Capability[]> = Object.fromEntries(
  Object.keys(catalogue).map((id) => [id, capabilities]),
)

/** Ids of the family by their look: `claude-…`. */
export const isAnthropicModel = (model: string): boolean => model.startsWith('claude-')

/** What a model of the family takes. */
export interface Traits {
  /** Most tokens that it gives out; undefined where that is not known. */
  maxOutput: number | undefined
  /** Whether it takes `temperature`, `top_p` and `top_k`. */
  sampling: boolean
  /** Whether it takes `temperature` and `top_p` at once, as none does from Opus 4.1 on. */
  bothSamplings: boolean
  /** How it is told to think: by an effort, by a budget of tokens, or not at all. */
  thinking: 'effort' | 'budget' | 'none'
  /** Whether it cannot be told not to. */
  alwaysThinks: boolean
  /** Whether its efforts go up to `xhigh` and not only from `high` to `max`. */
  xhigh: boolean
  /** Whether it holds to a JSON Schema by itself, in answers and in tools. */
  schemas: boolean
}

/** An id that tells no version is taken for one of this. */
const ASSUMED = 4.5

/** Reads what a model takes off its id; a version that is not known yet is taken for the latest. */
export function traitsOf(model: string): Traits {
  const undated = model.replace(/-(\d{8}|latest|0)$/, '')
  const [, major, minor = '0'] = /^claude-(?:[a-z]+-)?(\d+)(?:[-.](\d{1,2})(?!\d))?/.exec(undated) ?? []
  const alwaysThought = /fable|mythos/.test(undated)
  const version = major ? Number(major) + Number(minor) / 10 : alwaysThought ? 5 : ASSUMED
  return {
    maxOutput: catalogue[undated] ?? earlier[undated],
    sampling: version <= 4.6,
    bothSamplings: version < 4.1,
    thinking: version >= 4.6 ? 'effort' : version >= 3.7 ? 'budget' : 'none',
    alwaysThinks: alwaysThought || version > 5,
    xhigh: version > 4.6,
    schemas: version >= 4.5 || version === 4.1,
  }
}
