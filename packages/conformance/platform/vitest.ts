// What the tests of test/platform import as `vitest` when they run outside of it: suites, tests and `expect`.
import {
  ASYMMETRIC_MATCHERS_OBJECT,
  chai,
  getState,
  JestAsymmetricMatchers,
  JestChaiExpect,
  JestExtend,
  setState,
} from '@vitest/expect'

type Run = () => unknown

export interface Test {
  name: string
  run: Run
}

export interface Suite {
  name: string
  /** What runs before its tests, and after them. */
  before: Run[]
  after: Run[]
  parts: (Suite | Test)[]
}

/** Thrown by a test that cannot be tried. */
export class NotTried extends Error {}

/** Everything that has been defined. */
export const root: Suite = { name: '', before: [], after: [], parts: [] }
let current = root

/** What follows a title. */
type Rest = [body: Run] | [options: { skip?: boolean }, body: Run]

const isSkipped = ([options]: Rest): boolean => typeof options === 'object' && options.skip === true
const bodyOf = (rest: Rest): Run => rest.at(-1) as Run

function describeSuite(name: string, ...rest: Rest): void {
  if (isSkipped(rest)) return
  const suite: Suite = { name, before: [], after: [], parts: [] }
  const parent = current
  parent.parts.push(suite)
  current = suite
  bodyOf(rest)()
  current = parent
}

const skip = (): never => {
  throw new NotTried('does not apply here')
}

const defineTest = (name: string, ...rest: Rest): void =>
  void current.parts.push({ name, run: isSkipped(rest) ? skip : bodyOf(rest) })

/** A title with the values of a row: `$name` of an object, `%s` of a list. */
const titleOf = (title: string, row: unknown): string =>
  typeof row === 'object' && row !== null && !Array.isArray(row)
    ? title.replaceAll(/\$(\w+)/g, (_, key: string) => String((row as Record<string, unknown>)[key]))
    : [row].flat().reduce<string>((text, value) => text.replace(/%[sij]/, String(value)), title)

const eachOf =
  (define: (name: string, run: Run) => void) =>
  (rows: readonly unknown[]) =>
  (title: string, ...rest: unknown[]): void => {
    const run = rest.at(-1) as (...row: unknown[]) => unknown
    for (const row of rows) define(titleOf(title, row), () => run(...[row].flat()))
  }

export const describe = Object.assign(describeSuite, {
  each: eachOf(describeSuite),
})

export const it = Object.assign(defineTest, {
  skipIf: (isLeftOut: boolean) => (isLeftOut ? (name: string) => defineTest(name, skip) : defineTest),
  each: eachOf(defineTest),
})

export const beforeAll = (run: Run): void => void current.before.push(run)
export const afterAll = (run: Run): void => void current.after.push(run)

chai.use(JestExtend)
chai.use(JestChaiExpect)
chai.use(JestAsymmetricMatchers)

const POLL_MS = 10_000

/** Asserts again and again, until the assertion holds or ten seconds are over. */
const poll = (read: Run) =>
  new Proxy({} as Record<string, (...expected: unknown[]) => Promise<void>>, {
    get:
      (_, matcher: string) =>
      async (...expected: unknown[]): Promise<void> => {
        for (const end = Date.now() + POLL_MS; ; await new Promise((resolve) => setTimeout(resolve, 20)))
          try {
            const assertion = expect(await read()) as unknown as Record<string, (...expected: unknown[]) => void>
            return assertion[matcher]!(...expected)
          } catch (error) {
            if (Date.now() > end) throw error
          }
      },
  })

const state = { assertionCalls: 0, isExpectingAssertions: false, expectedAssertionsNumber: null }
const matchers = (globalThis as unknown as Record<symbol, object>)[ASYMMETRIC_MATCHERS_OBJECT]

export const expect = Object.assign(
  (value: unknown, message?: string) => chai.expect(value, message),
  chai.expect,
  matchers,
  { poll, getState: () => getState(expect as never), setState: (more: object) => setState(more, expect as never) },
)
setState(state, expect as never)
