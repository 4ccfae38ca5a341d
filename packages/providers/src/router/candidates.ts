import type { Choice, Considered, Model, Need, Preview, Target } from '@turnpike/core'
import { cost, ratesFor } from '@turnpike/core'
import type { Rest } from './health.js'

/** A target and its current state. */
export interface Candidate {
  target: Target
  /** Whether its provider supports the request; true if the provider cannot tell. */
  fits: boolean
  /** Its entry in the catalogue; undefined if it is not listed, or not with what it can do. */
  model: Model | undefined
  /** Maximum tokens of prompt and answer together, and of the answer alone; undefined if unknown. */
  context: number | undefined
  maxOutput: number | undefined
  /** Why it gets no calls at present; undefined where it may. */
  rest: Rest | undefined
}

/** Those that rest come last, who rests least long first. They stay among the targets: the others may not be for the caller. */
const byRest = (a: Candidate, b: Candidate): number => (a.rest?.until ?? -1) - (b.rest?.until ?? -1)

/** A choice with the position of each candidate: `order` has them in the order of `targets`, followed by the excluded ones. */
export type Ranking = Choice & Preview

/** Describes the position of a candidate if price does not decide. */
function standing({ target, fits, rest }: Candidate): Considered {
  const considered: Considered = { provider: target.provider.id, model: target.model, expected_nano_usd: null }
  if (!fits) considered.excluded = 'unfit'
  else if (rest) considered.behind = rest.why
  return considered
}

/** Ranks candidates in the order of configuration. If none supports the request, all are tried, so that the client gets a specific error. */
export function inOrder(candidates: Candidate[]): Ranking {
  const able = candidates.filter(({ fits }) => fits)
  const asked = (able.length > 0 ? able : candidates).toSorted(byRest)
  const left = candidates.filter((candidate) => !asked.includes(candidate))
  return { targets: asked.map(({ target }) => target), by: 'order', order: [...asked, ...left].map(standing) }
}

/** Compares by expected cost; unknown prices last. Equals keep the order of configuration. */
const cheaper = (a: Considered, b: Considered): number =>
  (a.expected_nano_usd ?? Infinity) === (b.expected_nano_usd ?? Infinity)
    ? 0
    : (a.expected_nano_usd ?? Infinity) - (b.expected_nano_usd ?? Infinity)

/**
 * Ranks the candidates that support the request by its expected cost.
 * `targets` is empty if there is none.
 */
export function byCost(candidates: Candidate[], need: Need): Ranking & Required<Choice> {
  const { prompt, output } = need.size?.() ?? { prompt: 0, output: 0 }
  const rated = candidates.map((candidate) => {
    const { target, fits, model, context = Infinity, maxOutput = Infinity, rest } = candidate
    const units = need.expected(target)
    const considered: Considered = {
      provider: target.provider.id,
      model: target.model,
      expected_nano_usd: target.price ? cost(units, ratesFor(target.price, units, need.calls?.(target))) : null,
    }
    if (!fits || need.fits?.(target, model) === false) considered.excluded = 'unfit'
    else if (prompt + output > context) considered.excluded = 'context'
    else if (output > maxOutput) considered.excluded = 'output'
    else if (rest) considered.behind = rest.why
    return { candidate, considered }
  })
  rated.sort((a, b) => cheaper(a.considered, b.considered))
  const able = rated.filter(({ considered }) => considered.excluded === undefined)
  const asked = able.toSorted((a, b) => byRest(a.candidate, b.candidate))
  return {
    targets: asked.map(({ candidate }) => candidate.target),
    considered: rated.map(({ considered }) => considered),
    by: 'price',
    order: [...asked, ...rated.filter((one) => !able.includes(one))].map(({ considered }) => considered),
  }
}
