import { expect, it } from 'vitest'
import { turns } from './turns.js'

it('work of a user waits for its turn, and that of others does not', async () => {
  const turn = turns(2)
  const log: string[] = []
  const ends = new Map<string, () => void>()
  const work = (name: string) => async () => {
    log.push(name)
    await new Promise<void>((resolve) => ends.set(name, resolve))
    if (name === 'a1') throw new Error('It failed')
    return name
  }
  const first = turn('ada', work('a1'))
  const others = ['a2', 'a3', 'a4'].map((name) => turn('ada', work(name)))
  const bob = turn('bob', work('b1'))
  await Promise.resolve()
  expect(log).toEqual(['a1', 'a2', 'b1'])
  ends.get('a1')!()
  await expect(first).rejects.toThrow('It failed')
  await expect.poll(() => log).toEqual(['a1', 'a2', 'b1', 'a3'])
  for (const name of ['a2', 'a3', 'b1']) ends.get(name)!()
  await expect.poll(() => log).toEqual(['a1', 'a2', 'b1', 'a3', 'a4'])
  ends.get('a4')!()
  expect(await Promise.all([...others, bob])).toEqual(['a2', 'a3', 'a4', 'b1'])
})
