import type { Choice, Considered, Model, Need, Target } from '@turnpike/core'
import { cost, ratesFor } from '@turnpike/core'

/** A target, and what is known of it at the moment. */
export interface Candidate {
  target: Target
  /** Whether its provider can do the task as it is asked, as far as that knows. */
  fits: boolean
  /** Its entry in the catalogue; undefined where it has none. */
  model: Model | undefined
  /** Most tokens of a prompt and an answer together, and of an answer; undefined where that is not known. */
  context: number | undefined
  maxOutput: number | undefined
  healthy: boolean
  /** Whether it was rate limited a moment ago. */
  limited: boolean
}

/** How far behind a candidate is put: a rate limit passes sooner than what makes a provider fail. */
const demerit = ({ healthy, limited }: Candidate): number => (healthy ? (limited ? 1 : 0) : 2)

/** A choice, and where in it each stands. */
export interface Ranking extends Choice {
  /** In the order of `targets`, and after them those that are excluded. */
  order: Considered[]
}

/** Why one stands where it does, where price does not decide. */
function standing({ target, fits, healthy, limited }: Candidate): Considered {
  const considered: Considered = { provider: target.provider.id, model: target.model, expected_nano_usd: null }
  if (!fits) considered.excluded = 'unfit'
  else if (!healthy) considered.behind = 'unhealthy'
  else if (limited) considered.behind = 'limited'
  return considered
}

/** In the order in which they are configured; who cannot do it is asked where nobody can, and says why. */
export function inOrder(candidates: Candidate[]): Ranking {
  const able = candidates.filter(({ fits }) => fits)
  // Nobody is left out: where no other is there, one that was failing is asked all the same.
  const asked = (able.length > 0 ? able : candidates).toSorted((a, b) => demerit(a) - demerit(b))
  const left = candidates.filter((candidate) => !asked.includes(candidate))
  return { targets: asked.map(({ target }) => target), order: [...asked, ...left].map(standing) }
}

/** Cheaper first, an unknown price last, and the order of configuration among equals. */
const cheaper = (a: Considered, b: Considered): number =>
  (a.expected_nano_usd ?? Infinity) === (b.expected_nano_usd ?? Infinity)
    ? 0
    : (a.expected_nano_usd ?? Infinity) - (b.expected_nano_usd ?? Infinity)

/**
 * By what the request is expected to cost, among those that can do it.
 * Targets are empty where none can.
 */
export function byCost(candidates: Candidate[], need: Need): Ranking & Required<Choice> {
  const { prompt, output } = need.size?.() ?? { prompt: 0, output: 0 }
  const rated = candidates.map((candidate) => {
    const { target, fits, model, context = Infinity, maxOutput = Infinity, healthy, limited } = candidate
    const units = need.expected(target)
    const considered: Considered = {
      provider: target.provider.id,
      model: target.model,
      expected_nano_usd: target.price ? cost(units, ratesFor(target.price, units)) : null,
    }
    if (!fits || need.fits?.(target, model) === false) considered.excluded = 'unfit'
    else if (prompt + output > context) considered.excluded = 'context'
    else if (output > maxOutput) considered.excluded = 'output'
    else if (!healthy) considered.behind = 'unhealthy'
    else if (limited) considered.behind = 'limited'
    return { candidate, considered }
  })
  rated.sort((a, b) => cheaper(a.considered, b.considered))
  const able = rated.filter(({ considered }) => considered.excluded === undefined)
  const asked = able.toSorted((a, b) => demerit(a.candidate) - demerit(b.candidate))
  return {
    targets: asked.map(({ candidate }) => candidate.target),
    considered: rated.map(({ considered }) => considered),
    order: [...asked, ...rated.filter((one) => !able.includes(one))].map(({ considered }) => considered),
  }
}
