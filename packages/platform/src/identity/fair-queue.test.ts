import { describe, expect, it } from 'vitest'
import { fairQueue } from './fair-queue.js'

const from = (name: string, places = 8) => [{ name, places }]

/** A queue whose tasks end when the test says. */
function setUp(limits: { running: number; waiting: number }) {
  const clock = { now: 0 }
  const run = fairQueue(limits, () => clock.now)
  const begun: string[] = []
  const ends = new Map<string, () => void>()
  const task = (name: string, sources = from(name)): Promise<string> =>
    run(sources, () => {
      begun.push(name)
      return new Promise((resolve) => ends.set(name, () => resolve(name)))
    })
  /** Ends tasks, each of which may let another one begin. */
  const end = async (...names: string[]): Promise<void> => {
    for (const name of names) {
      await new Promise(setImmediate)
      ends.get(name)!()
    }
    await new Promise(setImmediate)
  }
  const refusalOf = (asked: Promise<unknown>): Promise<number> =>
    asked.then(
      () => 200,
      (error: { status: number }) => error.status,
    )
  return { clock, task, begun, end, refusalOf }
}

describe('a fair queue', () => {
  it('runs so many at a time, lets so many wait, the last first, and refuses who has waited longest', async () => {
    const { task, begun, end } = setUp({ running: 2, waiting: 3 })
    const names = ['a', 'b', 'c', 'd', 'e', 'f']
    const all = names.map((name) => task(name))
    await expect(all[2]).rejects.toMatchObject({ status: 503, retryAfter: 1, code: 'overloaded' })
    expect(begun).toEqual(['a', 'b'])
    await end('b')
    expect(begun).toEqual(['a', 'b', 'f'])
    // The place of who has ended is taken by who waits, not by who comes meanwhile.
    const late = task('g')
    await end('a', 'g', 'f', 'e', 'd')
    expect(await Promise.all([...all.toSpliced(2, 1), late])).toEqual(['a', 'b', 'd', 'e', 'f', 'g'])
    expect(begun).toEqual(['a', 'b', 'f', 'g', 'e', 'd'])
  })

  it('goes on after a failure', async () => {
    const run = fairQueue({ running: 1, waiting: 1 }, () => 0)
    const failing = run(from('a'), () => Promise.reject(new Error('no')))
    const next = run(from('b'), async () => 'yes')
    await expect(failing).rejects.toThrow('no')
    expect(await next).toBe('yes')
    expect(await run(from('c'), async () => 'again')).toBe('again')
  })

  it('prefers who has tried less, and gives them the place of who has tried most', async () => {
    const { task, begun, end, refusalOf } = setUp({ running: 1, waiting: 2 })
    const first = task('loud', from('loud'))
    const second = refusalOf(task('loud 2', from('loud')))
    const third = task('loud 3', from('loud'))
    const quiet = task('quiet')
    expect(await second).toBe(503)
    // One of a source with few places weighs more.
    expect(await refusalOf(task('small', from('small', 1)))).toBe(503)
    await end('loud', 'quiet', 'loud 3')
    expect(await Promise.all([first, third, quiet])).toEqual(['loud', 'loud 3', 'quiet'])
    expect(begun).toEqual(['loud', 'quiet', 'loud 3'])
  })

  it('ranks those alike that have tried less than what counts at least', async () => {
    const { task, begun, end } = setUp({ running: 1, waiting: 1 })
    const few = (name: string, places: number) => [{ name, places, least: 0.5 }]
    const refused: string[] = []
    const ask = async (name: string, sources: ReturnType<typeof few> | ReturnType<typeof from>): Promise<void> => {
      void task(name, sources).catch(() => refused.push(name))
      await new Promise(setImmediate)
    }
    await ask('running', from('running'))
    // A few attempts, from networks of few places and of many, are as good as the first: the last one has the place.
    await ask('a', few('a', 4))
    await ask('b', few('b', 64))
    await ask('a again', few('a', 4))
    await ask('b too often', few('b', 1))
    await ask('known', from('known', 32))
    await ask('c', few('c', 64))
    expect(refused).toEqual(['a', 'b', 'b too often', 'a again', 'c'])
    await end('running', 'known')
    expect(begun).toEqual(['running', 'known'])
  })

  it('gives a source its places at most, and in them prefers who has tried less', async () => {
    const { task, begun, end, refusalOf } = setUp({ running: 1, waiting: 9 })
    const wide = { name: 'wide', places: 3 }
    const narrow = (name: string) => [{ name, places: 2 }, wide]
    const [one, two, three] = ['1', '2', '3'].map((n) => refusalOf(task(n, narrow(n === '3' ? 'b' : 'a'))))
    expect(await refusalOf(task('4', narrow('a')))).toBe(429)
    // Another one of the wide network, which has tried less than those of `a`.
    const four = refusalOf(task('5', narrow('c')))
    expect(await two).toBe(429)
    // Others have places of their own.
    const elsewhere = refusalOf(task('6', from('elsewhere')))
    await end('1', '6', '5', '3')
    expect(await Promise.all([one, three, four, elsewhere])).toEqual([200, 200, 200, 200])
    expect(begun).toEqual(['1', '6', '5', '3'])
  })

  it('asks before a task takes a place and when its turn has come, and counts what is refused', async () => {
    const run = fairQueue({ running: 1, waiting: 1 }, () => 0)
    let [isOpen, begun] = [true, 0]
    const check = async (): Promise<void> => {
      if (!isOpen) throw new Error('blocked')
    }
    let end = (): void => undefined
    const first = run(from('a'), () => new Promise<void>((resolve) => (end = resolve)), check)
    const second = run(from('b'), async () => void begun++, check)
    await new Promise(setImmediate)
    isOpen = false
    for (let i = 0; i < 3; i++) await expect(run(from('b'), async () => undefined, check)).rejects.toThrow('blocked')
    // Who was refused has tried more than somebody else, who takes the place.
    const third = run(from('c'), async () => 'third')
    await expect(second).rejects.toMatchObject({ status: 503 })
    end()
    await first
    expect(await third).toBe('third')
    await expect(run(from('d'), async () => void begun++, check)).rejects.toThrow('blocked')
    expect(begun).toBe(0)
  })

  it('lets nobody wait for more than 10 seconds', async () => {
    const { clock, task, begun, end, refusalOf } = setUp({ running: 1, waiting: 9 })
    const all: Promise<unknown>[] = [task('a'), refusalOf(task('b'))]
    await new Promise(setImmediate)
    clock.now += 1
    all.push(task('c'))
    await new Promise(setImmediate)
    clock.now += 9_999
    await end('a', 'c')
    expect(await Promise.all(all)).toEqual(['a', 503, 'c'])
    expect(begun).toEqual(['a', 'c'])
  })

  it('forgets who has tried after 10 minutes at most', async () => {
    const { clock, task, begun, end } = setUp({ running: 1, waiting: 9 })
    for (let i = 0; i < 3; i++) {
      const loud = task(`loud ${i}`, from('loud'))
      await end(`loud ${i}`)
      await loud
    }
    clock.now += 600_000
    const all = [task('first'), task('quiet'), task('loud', from('loud'))]
    await end('first', 'loud', 'quiet')
    await Promise.all(all)
    expect(begun.slice(3)).toEqual(['first', 'loud', 'quiet'])
  })
})
