import { readdirSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import ts from 'typescript-5'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Owner } from '../platform/requests.js'
import { newOwner } from '../platform/requests.js'
import type { World } from '../platform/world.js'
import { PASSWORD, startWorld } from '../platform/world.js'
import { runtime } from '../support/runtime.js'
import { sample } from '../support/scope.js'

/** Texts on which a bad pattern needs more than linear time. */
const LENGTH = 100_000
const hard = (length: number): Record<string, string> => ({
  "a's": 'a'.repeat(length),
  'letters and a stop': `${'a'.repeat(length)}!`,
  ats: '@'.repeat(length),
  'an at between spaces': `a@${' '.repeat(length)}`,
  addresses: 'a@'.repeat(length / 2),
  dots: 'a.'.repeat(length / 2),
  dashes: 'a-'.repeat(length / 2),
  spaces: ' '.repeat(length),
  tabs: `\t`.repeat(length),
  digits: '1'.repeat(length),
  slashes: 'a/'.repeat(length / 2),
  semicolons: 'data:a;'.repeat(length / 7),
  quotes: '"\\'.repeat(length / 2),
  bearers: 'Bearer '.repeat(length / 7),
  links: 'https:'.repeat(length / 6),
})

describe(`threat 15: ReDoS, on ${runtime}`, () => {
  let world: World
  let owner: Owner
  beforeAll(async () => {
    world = await startWorld('memory', { RATE_LIMITER: 'memory' })
    owner = await newOwner(world, 'admin')
  })
  afterAll(() => world.kill())

  /** Milliseconds of work for one request, however busy the machine is: a quadratic pattern needs ten times as many. */
  const MOST = 1_000

  const send = async (method: string, path: string, body?: unknown, headers: Record<string, string> = {}) => {
    const before = await world.call<number>('worked')
    const { status } = await world.ask(method, path, {
      as: path.startsWith('/v1/') ? owner.key : owner,
      body,
      headers,
    })
    return { status, work: (await world.call<number>('worked')) - before }
  }

  const chat = (fields: object) => ({ model: 'gpt-4o', messages: [{ role: 'user', content: 'Hi' }], ...fields })
  const says = (content: unknown) => chat({ messages: [{ role: 'user', content }] })
  /** Requests with a text where something is checked. */
  const fields: Record<string, (text: string) => [method: string, path: string, body: object]> = {
    'the e-mail of a sign-in': (email) => ['POST', '/api/auth', { email, password: PASSWORD }],
    'the e-mail of a new user': (email) => ['POST', '/api/users', { email, password: PASSWORD }],
    'the e-mail of a user of the gateway': (email) => ['POST', '/v1/users', { email }],
    'the id of a user of the gateway': (id) => ['POST', '/v1/users', { id }],
    'a refresh token': (refresh_token) => ['PUT', '/api/auth', { refresh_token }],
    'the time of a session': (expires_at) => ['POST', '/api/sessions', { expires_at }],
    'the colour of a project': (color) => ['POST', '/api/projects', { name: 'A', color }],
    'the title of a task': (title) => ['POST', '/api/tasks', { projectId: owner.projectId, title }],
    'a model': (model) => ['POST', '/v1/chat/completions', chat({ model })],
    'a model with a prefix': (text) => ['POST', '/v1/chat/completions', chat({ model: `gemini-${text}` })],
    'a name of a field': (name) => ['POST', '/v1/chat/completions', chat({ [name]: 1 })],
    'an image': (url) => ['POST', '/v1/chat/completions', says([{ type: 'image_url', image_url: { url } }])],
    'a data URL': (text) => [
      'POST',
      '/v1/chat/completions',
      says([{ type: 'image_url', image_url: { url: `data:${text}` } }]),
    ],
    // It is for models to keep to; here it is data.
    'the pattern of a schema': (text) => [
      'POST',
      '/v1/chat/completions',
      chat({
        messages: [{ role: 'user', content: text }],
        tools: [
          {
            type: 'function',
            function: {
              name: 'f',
              parameters: { type: 'object', properties: { a: { type: 'string', pattern: '^(a+)+$' } } },
            },
          },
        ],
      }),
    ],
  }

  it.each(Object.keys(fields))('takes no longer than its length allows for %s', async (name) => {
    await world.advance(60_000)
    for (const [what, text] of sample(Object.entries(hard(LENGTH)), 5)) {
      const { status, work } = await send(...fields[name]!(text))
      expect([what, status < 500, work < MOST ? 'little' : `${work} ms`]).toEqual([what, true, 'little'])
    }
  })

  it('takes no longer for headers, paths and queries', async () => {
    for (const [what, text] of sample(Object.entries(hard(10_000)), 5)) {
      const escaped = encodeURIComponent(text).slice(0, 10_000)
      const trimmed = text.trim()
      for (const name of ['content-type', 'traceparent', 'range', 'if-none-match', 'x-session-id', 'x-forwarded-for']) {
        const { status, work } = await send('POST', '/v1/chat/completions', chat({}), { [name]: trimmed })
        expect([name, what, status < 500, work < MOST]).toEqual([name, what, true, true])
      }
      for (const [name, value] of [
        ['authorization', `Bearer ${text}`.trim()],
        ['authorization', `${trimmed} a`.trim()],
        ['cookie', `__Host-session=${trimmed}`],
      ] as const) {
        const { status, work } = await send('GET', '/api/account', undefined, { [name]: value })
        expect([name, what, status < 500, work < MOST]).toEqual([name, what, true, true])
      }
      for (const path of [
        `/v1/models/${escaped}`,
        `/v1/users/${escaped}`,
        `/v1/users?after=${escaped}`,
        `/api/users/${escaped}`,
      ]) {
        const { status, work } = await send('GET', path)
        expect([path, status < 500, work < MOST]).toEqual([path, true, true])
      }
    }
  })
})

describe('threat 15: ReDoS, in the sources', () => {
  const root = fileURLToPath(new URL('../..', import.meta.url))
  const folders = [...readdirSync(`${root}packages`).map((name) => `packages/${name}/src`), 'examples/server/src']
  const files = folders.flatMap((folder) =>
    readdirSync(root + folder, { recursive: true, encoding: 'utf8' })
      .filter((name) => name.endsWith('.ts') && !name.endsWith('.test.ts'))
      .map((name) => `${folder}/${name}`),
  )

  /** The patterns of a file, and how many it makes at run time. */
  function patternsOf(path: string): { literals: string[]; made: number } {
    const found = { literals: [] as string[], made: 0 }
    const visit = (node: ts.Node): void => {
      if (ts.isRegularExpressionLiteral(node)) found.literals.push(node.text)
      if ((ts.isNewExpression(node) || ts.isCallExpression(node)) && node.expression.getText() === 'RegExp')
        found.made++
      ts.forEachChild(node, visit)
    }
    visit(ts.createSourceFile(path, readFileSync(root + path, 'utf8'), ts.ScriptTarget.Latest, true))
    return found
  }

  /** Whether a repeated group has something repeated in it. */
  function isNested(pattern: string): boolean {
    const repeats = /[*+]|\{\d+,\d*\}/
    let rest = pattern.replace(/\\./g, 'e').replace(/\[[^\]]*\]/g, 'c')
    for (;;) {
      const group = /\((?:\?(?:[:=!]|<[=!]|<\w+>))?([^()]*)\)([*+]|\{\d+,\d*\})?/.exec(rest)
      if (!group) return false
      const [whole, inner = '', outer] = group
      if (outer && repeats.test(inner)) return true
      rest = rest.replace(whole, repeats.test(inner) ? 'g+' : `g${outer ?? ''}`)
    }
  }

  it('finds nested repetitions', () => {
    for (const bad of ['^(a+)+$', '(?:a|b*)*', '((a+)b?)+', '([a-z]+\\.)*x', '(a{2,}){3,}', '(?:(?:x+))+'])
      expect([bad, isNested(bad)]).toEqual([bad, true])
    for (const good of ['a+b+', '(a|b)+', '(\\(a\\+)+', '([+*]b)*', '(a+)?', '(?=a+)b'])
      expect([good, isNested(good)]).toEqual([good, false])
  })

  it('no pattern has any, and none is made of the text of a caller', () => {
    const found = files.map((path) => ({ path, ...patternsOf(path) }))
    const literals = found.flatMap(({ literals }) => literals)
    expect(literals.length).toBeGreaterThan(80)
    expect(literals.filter(isNested)).toEqual([])
    // Those that look for the end of a text from each of its places take quadratic time. This one reads addresses of operators.
    const isTail = (literal: string): boolean => /^\/(\[(\\.|[^\]])*\]|\\.|[^[\\])[*+{].*\$\/[a-z]*$/.test(literal)
    expect(isTail('/[^/#]*$/')).toBe(true)
    expect([...new Set(literals.filter(isTail))].toSorted()).toEqual(['/\\/+$/'])
    // Of constants, all of them.
    expect(found.filter(({ made }) => made > 0).map(({ path }) => path)).toEqual([
      'packages/core/src/entities/users.ts',
      'packages/core/src/helpers/scrub.ts',
      'packages/core/src/helpers/unseen.ts',
      'packages/providers/src/refusals/context-length.ts',
      'packages/providers/src/testing/anthropic-blocks.ts',
      'packages/storage/src/blobs/s3-client.ts',
      'packages/storage/src/log/envelope.ts',
      'packages/turnpike/src/config/schema.ts',
    ])
  })
})
