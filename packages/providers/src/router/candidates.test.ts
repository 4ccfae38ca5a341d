import type { Model, Need, Price, Provider } from '@turnpike/core'
import { describe, expect, it } from 'vitest'
import type { Candidate } from './candidates.js'
import { byCost, inOrder } from './candidates.js'

const candidate = (id: string, price?: Price, more: Partial<Candidate> = {}): Candidate => {
  const provider: Provider = { id, models: async () => [] }
  const target = { provider, model: `${id}-1`, price, catalogue: 'v' }
  const known = { model: undefined, context: undefined, maxOutput: undefined }
  return { target, fits: true, ...known, rest: undefined, ...more }
}
const ill = (until: number) => ({ rest: { why: 'unhealthy' as const, until } })
const busy = (until: number) => ({ rest: { why: 'limited' as const, until } })
const need = (input: number, output: number, more: Partial<Need> = {}): Need => ({
  task: 'chat',
  request: { model: 'x' },
  expected: () => ({ input, output }),
  size: () => ({ prompt: input, output }),
  ...more,
})
const ids = ({ targets }: { targets: Candidate['target'][] }): string => targets.map((t) => t.provider.id).join(' ')

describe('by cost', () => {
  const [cheapIn, cheapOut] = [candidate('in', { input: 1, output: 10 }), candidate('out', { input: 5, output: 2 })]

  it('the cheapest for this request is first', () => {
    expect(ids(byCost([cheapIn, cheapOut], need(1_000, 10)))).toBe('in out')
    expect(ids(byCost([cheapIn, cheapOut], need(10, 1_000)))).toBe('out in')
  })

  it('equal prices keep the order', () => {
    const same = { input: 3, output: 3 }
    expect(ids(byCost([candidate('b', same), candidate('a', same), candidate('c', same)], need(9, 9)))).toBe('b a c')
  })

  it('unknown prices are last, in their order, and free ones first', () => {
    const all = [candidate('u'), candidate('v', {}), candidate('a', { input: 9 }), candidate('f', { input: 0 })]
    const { considered, ...choice } = byCost(all, need(5, 0))
    expect(ids(choice)).toBe('f a u v')
    expect(considered!.map((one) => one.expected_nano_usd)).toEqual([0, 45_000, null, null])
  })

  it('a price without the used classes is unknown', () => {
    const all = [candidate('half', { input: 1 }), candidate('full', { input: 900, output: 900 })]
    expect(ids(byCost(all, need(5, 1)))).toBe('full half')
    expect(ids(byCost(all, need(5, 0)))).toBe('half full')
  })

  it('a tier changes which target is cheapest', () => {
    const tiered = candidate('tiered', { input: 1, output: 1, tiers: [{ above: 1_000, input: 4 }] })
    const flat = candidate('flat', { input: 2, output: 1 })
    expect(ids(byCost([tiered, flat], need(1_000, 1)))).toBe('tiered flat')
    expect(ids(byCost([tiered, flat], need(1_001, 1)))).toBe('flat tiered')
  })

  it('the expected units can differ by target', () => {
    const expected: Need['expected'] = ({ provider }) => ({ input: provider.id === 'a' ? 8 : 1 })
    const all = [candidate('a', { input: 1 }), candidate('b', { input: 2 })]
    const { considered, ...choice } = byCost(all, need(1, 0, { expected }))
    expect(ids(choice)).toBe('b a')
    expect(considered!.map((one) => one.expected_nano_usd)).toEqual([2_000, 8_000])
  })

  it('unfit targets are removed, and checked with their catalogue entry', () => {
    const listed = { id: 'a-1' } as Model
    const seen: unknown[] = []
    const fits: Need['fits'] = ({ provider }, model) => {
      seen.push([provider.id, model])
      return provider.id !== 'a'
    }
    const choice = byCost(
      [candidate('a', { input: 1 }, { model: listed }), candidate('b', { input: 2 })],
      need(1, 0, { fits }),
    )
    expect(ids(choice)).toBe('b')
    expect(choice.considered).toEqual([
      { provider: 'a', model: 'a-1', expected_nano_usd: 1_000, excluded: 'unfit' },
      { provider: 'b', model: 'b-1', expected_nano_usd: 2_000 },
    ])
    expect(seen).toEqual([
      ['a', listed],
      ['b', undefined],
    ])
  })

  it('a context of exactly the needed size fits', () => {
    const all = [candidate('a', { input: 1 }, { context: 99 }), candidate('b', { input: 2 }, { context: 100 })]
    const choice = byCost([...all, candidate('c', { input: 3 })], need(90, 10))
    expect(ids(choice)).toBe('b c')
    expect(choice.considered![0]).toMatchObject({ provider: 'a', excluded: 'context' })
  })

  it('an answer of exactly the limit fits', () => {
    const all = [candidate('a', { input: 1 }, { maxOutput: 9 }), candidate('b', { input: 2 }, { maxOutput: 10 })]
    const choice = byCost(all, need(90, 10))
    expect(ids(choice)).toBe('b')
    expect(choice.considered![0]).toMatchObject({ provider: 'a', excluded: 'output' })
  })

  it('the context must fit one answer, not all n', () => {
    const one = candidate('a', { input: 1, output: 1 }, { context: 100 })
    expect(ids(byCost([one], need(720, 80, { size: () => ({ prompt: 60, output: 40 }) })))).toBe('a')
    expect(byCost([one], need(1, 1, { size: () => ({ prompt: 60, output: 41 }) })).targets).toEqual([])
    expect(ids(byCost([one], { task: 'embeddings', request: { model: 'x' }, expected: () => ({ input: 999 }) }))).toBe(
      'a',
    )
  })

  it('those that rest come after dearer ones, who rests least long first', () => {
    const all = [
      candidate('ill', { input: 1 }, ill(4)),
      candidate('iller', { input: 2 }, ill(4)),
      candidate('busy', { input: 3 }, busy(5)),
      candidate('busier', { input: 4 }, busy(3)),
      candidate('dear', { input: 100 }),
      candidate('unknown'),
    ]
    const choice = byCost(all, need(1, 0))
    expect(ids(choice)).toBe('dear unknown busier ill iller busy')
    expect(choice.considered!.map(({ provider, behind }) => [provider, behind])).toEqual([
      ['ill', 'unhealthy'],
      ['iller', 'unhealthy'],
      ['busy', 'limited'],
      ['busier', 'limited'],
      ['dear', undefined],
      ['unknown', undefined],
    ])
  })

  it('no target remains where none fits', () => {
    const choice = byCost([candidate('a', { input: 1 })], need(1, 0, { fits: () => false }))
    expect(choice).toMatchObject({
      targets: [],
      considered: [{ provider: 'a', model: 'a-1', expected_nano_usd: 1_000, excluded: 'unfit' }],
    })
  })
})

describe('in order', () => {
  const unfit = { fits: false }

  it('unfit targets are removed, however healthy', () => {
    const all = [candidate('a', {}, unfit), candidate('b', {}, ill(1)), candidate('c')]
    expect(ids(inOrder(all))).toBe('c b')
  })

  it('all targets remain where none fits', () => {
    expect(ids(inOrder([candidate('a', {}, unfit), candidate('b', {}, unfit)]))).toBe('a b')
  })

  it('price and context do not matter, health does', () => {
    const all = [
      candidate('ill', { input: 1 }, ill(2)),
      candidate('busy', { input: 1 }, busy(1)),
      candidate('dear', { input: 100 }, { context: 1 }),
      candidate('cheap', { input: 1 }),
    ]
    const choice = inOrder(all)
    expect(ids(choice)).toBe('dear cheap busy ill')
    expect('considered' in choice).toBe(false)
  })

  it('the input is not modified', () => {
    const all = [candidate('a', { input: 2 }, ill(1)), candidate('b', { input: 1 })]
    byCost(all, need(1, 1))
    inOrder(all)
    expect(all.map(({ target }) => target.provider.id)).toEqual(['a', 'b'])
  })
})
