import { execFile } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { Ajv } from 'ajv'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { parse } from 'yaml'
import { runtimePath } from '../support/runtime.js'

const script = fileURLToPath(new URL('../../examples/server/dist/config.js', import.meta.url))
const schema = fileURLToPath(import.meta.resolve('turnpike/config.schema.json'))

let folder: string
beforeAll(() => void (folder = mkdtempSync(join(tmpdir(), 'turnpike-config-'))))
afterAll(() => rmSync(folder, { recursive: true }))

/** Runs `npm run config` in the folder. @returns its exit code and what it writes */
const config = (command: string, env: Record<string, string> = {}) =>
  new Promise<{ code: number; out: string }>((resolve) => {
    const { PATH, HOME } = process.env
    execFile(runtimePath(), [script, command], { cwd: folder, env: { PATH, HOME, ...env } }, (error, stdout, stderr) =>
      resolve({ code: error ? Number(error.code) : 0, out: stdout + stderr }),
    )
  })
const write = (text: string): void => writeFileSync(join(folder, 'turnpike.config.yaml'), text)

const secrets = ['sk-canary-1', 'canary-canary-2', 'gw-canary-canary-33', 'c'.repeat(40), 'canary4', 'canary-canary-55']
const [apiKey, password, key, sessionSecret, database, token] = secrets
const full = `
server: { port: "\${OWN_PORT:-8788}", log: warn }
store: redis://me:${database}@db/0
files: { store: memory, secrets: [${sessionSecret}] }
admin: { password: ${password}, key: ${key}, token: ${token} }
providers:
  - { type: openai, apiKey: ${apiKey} }
platform: { sessionSecret: ${sessionSecret} }
`

describe('npm run config', () => {
  it('check says that a file is right, or all that is wrong', async () => {
    write(full)
    expect(await config('check')).toEqual({ code: 0, out: `${join(folder, 'turnpike.config.yaml')} is right\n` })
    write('server: { prot: 1 }\nproviders: [{ type: openai }]')
    expect(await config('check')).toMatchObject({ code: 1, out: expect.stringContaining('server.prot is no setting') })
    write('providers: [{ type: openai }, { type: google, apiKey: "" }]')
    const { code, out } = await config('check')
    expect(code).toBe(1)
    expect(out.trim().split('\n').slice(-1)[0]).toContain('providers[1].apiKey must be')
    write('prices: missing.json\nproviders: [{ type: openai, apiKey: x }]')
    expect(await config('check')).toMatchObject({
      code: 1,
      out: expect.stringMatching(/^prices must be .*missing.json/),
    })
  })

  it('print shows what comes of the file and the environment, without secrets', async () => {
    write(full)
    const { code, out } = await config('print', { PORT: '9999', STORAGE: '' })
    expect(code).toBe(0)
    expect(parse(out)).toMatchObject({
      server: { port: 9999, log: 'warn' },
      store: 'redis://…@db/0',
      providers: [{ type: 'openai', apiKey: '…' }],
    })
    for (const secret of secrets) expect(out).not.toContain(secret)
  })

  it('says how it is used', async () => {
    for (const command of ['', 'help']) {
      const { code, out } = await config(command)
      expect([code, out.split('\n')[0]]).toEqual([2, 'Usage: npm run -s config -- COMMAND'])
    }
  })
})

describe('the JSON Schema of a configuration', () => {
  const validate = new Ajv({ strict: false }).compile(JSON.parse(readFileSync(schema, 'utf8')) as object)

  it('accepts what the server accepts', () => {
    expect([validate(parse(full)), validate.errors]).toEqual([true, null])
    expect(validate({})).toBe(true)
    expect(validate({ server: { log: '${LEVEL}', port: '${PORT}' } })).toBe(true)
  })

  it.each([
    { server: { prot: 1 } },
    { server: { port: 70_000 } },
    { server: { log: 'loud' } },
    { providers: [{ apiKey: 'x' }] },
    { providers: [{ type: 'opnai' }] },
    { platform: { taskPolicy: 'policy.ts' } },
  ])('refuses %j', (file) => expect(validate(file)).toBe(false))

  it('describes each setting', () => {
    const undescribed: string[] = []
    const look = (
      at: string,
      { properties = {}, description }: { properties?: object; description?: string },
    ): void => {
      if (description === undefined && at !== '') undescribed.push(at)
      for (const [name, inner] of Object.entries(properties)) look(`${at}.${name}`, inner as object)
    }
    look('', JSON.parse(readFileSync(schema, 'utf8')) as object)
    expect(undescribed).toEqual([])
  })
})
