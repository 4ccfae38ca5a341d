import { describe, expect, it } from 'vitest'
import type { Name } from './segments.js'
import { chain, latest, nameOf, parseName } from './segments.js'

/** Parses `from-to@attempt` or `from-to@epoch.attempt`; the default epoch is 1. */
const name = (text: string): Name => {
  const [, from, to, epoch = 1, attempt] = /^(\d+)-(\d+)@(?:(\d+)\.)?(\d+)$/.exec(text)!.map(Number)
  return { from: from!, to: to!, epoch: epoch || 1, attempt: attempt! }
}
const text = ({ from, to, epoch, attempt }: Name): string => `${from}-${to}@${epoch > 1 ? `${epoch}.` : ''}${attempt}`

describe('the name of an item', () => {
  it('is parsed, and anything else is refused', () => {
    const one: Name = { from: 1, to: 12, epoch: 3, attempt: 450 }
    expect(parseName(nameOf(one))).toEqual(one)
    for (const other of ['', 'owner', 'fence-1', '1-2-3', '1-2-3-4-5', 'a1-2-3-4', '1-2-3-4 '])
      expect(parseName(other)).toBeUndefined()
  })
})

describe('latest', () => {
  it.each<[items: string[], chosen: string[]]>([
    [[], []],
    [
      ['2-2@2', '1-1@1'],
      ['1-1@1', '2-2@2'],
    ],
    // A write that was reported as failed but took effect, and the one that replaced it.
    [
      ['1-1@1', '1-1@2', '2-2@3'],
      ['1-1@2', '2-2@3'],
    ],
    // A merge, and items that it replaced but that could not be removed.
    [
      ['1-1@1', '2-2@2', '3-3@3', '1-2@4'],
      ['1-2@4', '3-3@3'],
    ],
    // A merge that was reported as failed but took effect, and later merges that overlap with it.
    [
      ['1-4@9', '5-8@5', '5-9@15', '3-6@7', '10-10@8'],
      ['1-4@9', '5-9@15', '10-10@8'],
    ],
    [
      ['1-3@5', '3-6@7', '6-8@10'],
      ['1-3@5', '6-8@10'],
    ],
    [['1-1@2.1', '1-1@9'], ['1-1@2.1']],
  ])('of %j is %j', (items, chosen) => {
    expect(latest(items.map(name)).map(text)).toEqual(chosen)
    expect(latest(items.toReversed().map(name)).map(text)).toEqual(chosen)
  })
})

describe('chain', () => {
  /** The items that it finds, some of which are corrupt; or the message of its error. */
  async function find(items: string[], corrupt: string[] = [], torn = true) {
    const found: string[] = []
    const read: string[] = []
    const contentOf = async (one: Name): Promise<string | undefined> => {
      read.push(text(one))
      return corrupt.includes(text(one)) ? undefined : 'content'
    }
    try {
      for await (const one of chain(items.map(name), contentOf, torn)) found.push(text(one.name))
    } catch (error) {
      return (error as Error).message.replace(/^The store cannot be opened: (.*)\. Restore.*$/, '$1')
    }
    return found
  }

  it.each<[what: string, items: string[], corrupt: string[], found: string[] | string]>([
    ['nothing', [], [], []],
    ['all', ['1-1@1', '2-2@2', '3-5@9'], [], ['1-1@1', '2-2@2', '3-5@9']],
    ['the rest if the last group is partial', ['1-1@1', '2-2@2'], ['2-2@2'], ['1-1@1']],
    [
      'the rest if two attempts at the last group are partial',
      ['1-1@1', '2-2@2', '2-2@3'],
      ['2-2@2', '2-2@3'],
      ['1-1@1'],
    ],
    ['the earlier attempt if the later one is partial', ['1-1@1', '2-2@2', '2-2@3'], ['2-2@3'], ['1-1@1', '2-2@2']],
    ['the sources of a merge that is partial', ['1-1@1', '2-2@2', '1-2@3'], ['1-2@3'], ['1-1@1', '2-2@2']],
    ['that the first is missing', ['2-2@2'], [], 'the item with group 1 is missing'],
    ['that one is missing', ['1-1@1', '3-3@3'], [], 'the item with group 2 is missing'],
    ['that one is corrupt', ['1-1@1', '2-2@2', '3-3@3'], ['2-2@2'], 'item 2-2-1-2 is corrupt'],
    ['that the last two are corrupt', ['1-1@1', '2-2@2', '3-3@3'], ['2-2@2', '3-3@3'], 'item 3-3-1-3 is corrupt'],
    ['that a merge is corrupt', ['1-1@1', '2-4@9'], ['2-4@9'], 'item 2-4-1-9 is corrupt'],
    [
      'that a merge is corrupt and one of its sources is missing',
      ['1-1@1', '1-2@3'],
      ['1-2@3'],
      'item 1-2-1-3 is corrupt',
    ],
  ])('finds %s', async (_, items, corrupt, found) => {
    expect(await find(items, corrupt)).toEqual(found)
  })

  it('refuses incomplete items on a driver with atomic writes', async () => {
    expect(await find(['1-1@1', '2-2@2'], ['2-2@2'], false)).toBe('item 2-2-1-2 is corrupt')
    expect(await find(['1-1@1', '2-2@2', '1-2@3'], ['1-2@3'], false)).toBe('item 1-2-1-3 is corrupt')
  })

  it('reads ahead, with a limit', async () => {
    let reading = 0
    let most = 0
    const names = Array.from({ length: 100 }, (_, i) => name(`${i + 1}-${i + 1}@${i + 1}`))
    const read = async (): Promise<string> => {
      most = Math.max(most, ++reading)
      await new Promise(setImmediate)
      reading--
      return 'content'
    }
    for await (const _ of chain(names, read, true));
    expect(most).toBe(16)
  })
})
