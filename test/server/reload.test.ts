import { mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import type { NamedUpstream } from '../support/named-upstream.js'
import { namedUpstream } from '../support/named-upstream.js'
import { needs, programs } from '../support/needs.js'
import { childrenOf } from '../support/processes.js'
import type { RedisServer } from '../support/redis.js'
import { startRedis } from '../support/redis.js'
import type { Server } from '../support/server.js'
import { startServer } from '../support/server.js'
import { slowBody } from '../support/slow-body.js'

describe('the configuration is read again', () => {
  let folder: string
  let file: string
  let a: NamedUpstream
  let b: NamedUpstream
  let server: Server

  const write = (text: string): void => {
    writeFileSync(`${file}.next`, text)
    renameSync(`${file}.next`, file)
  }
  const use = ({ name, url }: NamedUpstream, more: object = {}): void =>
    write(
      JSON.stringify({
        providers: [{ type: 'openai', id: name, apiKey: `key-${name}`, baseURL: url, models: ['m'] }],
        ...more,
      }),
    )
  const start = async (env: Record<string, string> = {}): Promise<void> => {
    server = await startServer({ CONFIG: file, ...env })
  }
  const times = (text: string): number => server.output().split(text).length - 1
  /** Sends SIGHUP, and waits until the server says what came of it. */
  const hup = async (said = 'was read again', processes = 1): Promise<void> => {
    const before = times(said)
    server.process.kill('SIGHUP')
    await expect.poll(() => times(said)).toBe(before + processes)
  }
  const chat = (body: object = {}): Promise<Response> =>
    fetch(`${server.url}/v1/chat/completions`, {
      method: 'POST',
      headers: {
        authorization: `Bearer ${server.key}`,
        'content-type': 'application/json',
        'x-gateway-explain': 'true',
      },
      body: JSON.stringify({ model: 'm', messages: [{ role: 'user', content: 'Hi' }], ...body }),
    })
  /** Who answers, by the header and by the answer. */
  const served = async (): Promise<[status: number, provider: string | null, text: unknown]> => {
    const response = await chat()
    const { choices } = (await response.json()) as { choices?: { message: { content: string } }[] }
    return [response.status, response.headers.get('x-gateway-provider'), choices?.[0]?.message.content]
  }

  beforeEach(async () => {
    folder = mkdtempSync(join(tmpdir(), 'turnpike-reload-'))
    file = join(folder, 'turnpike.config.json')
    ;[a, b] = await Promise.all([namedUpstream('a'), namedUpstream('b')])
    use(a)
  })
  afterEach(async () => {
    for (const { server, finish } of [a, b]) {
      finish()
      server.close()
      server.closeAllConnections()
    }
    await server.stop()
    rmSync(folder, { recursive: true })
  })

  it('50 times under load: no request fails, or is served by a mix of two files, and no connection is left', async () => {
    await start({ BOOTSTRAP_GATEWAY_RATE_LIMIT: '1000000' })
    const end = new AbortController()
    const answers: Awaited<ReturnType<typeof served>>[] = []
    const load = Array.from({ length: 8 }, async () => {
      while (!end.signal.aborted) answers.push(await served())
    })
    for (let i = 0; i < 50; i++) {
      use(i % 2 === 0 ? b : a)
      await hup()
    }
    end.abort()
    await Promise.all(load)
    const kinds = new Set(answers.map((answer) => answer.join(' ')))
    expect([...kinds].toSorted()).toEqual(['200 a a', '200 b b'])
    expect(answers.length).toBeGreaterThan(50)
    expect(a.sockets + b.sockets).toBeLessThanOrEqual(16)
  })

  it('while a stream runs, which ends on the old one', async () => {
    await start()
    const stream = await chat({ stream: true })
    use(b)
    await hup()
    expect(await served()).toEqual([200, 'b', 'b'])
    a.finish()
    const text = await stream.text()
    expect(text).toContain('"finish_reason":"stop"')
    expect(text).toMatch(/data: \[DONE\]\s*$/)
    expect(text).not.toContain('"content":"b"')
  })

  it('threat 179: while a body arrives, whose administrator token is replaced: it does nothing', async () => {
    const [before, after] = ['a'.repeat(40), 'b'.repeat(40)]
    use(a, { admin: { token: before } })
    await start()
    const { type, init } = await slowBody({ name: 'Mallory', role: 'admin' }, () => {
      use(a, { admin: { token: after } })
      return hup()
    })
    const headers = { authorization: `Bearer ${before}`, 'content-type': type }
    expect((await fetch(`${server.url}/v1/users`, { method: 'POST', headers, ...init })).status).toBe(401)
    const users = await fetch(`${server.url}/v1/users`, { headers: { authorization: `Bearer ${after}` } })
    expect([users.status, await users.text()]).toEqual([200, expect.not.stringContaining('Mallory')])
  })

  it('but not where it is wrong, which is reported', async () => {
    await start()
    write('{ "providers": [{ "type": "opnai" }], "server": { "port": "x" } }')
    await hup('stays as it was')
    expect(server.output()).toContain('providers[0].type must be one of openai')
    expect(await served()).toEqual([200, 'a', 'a'])
    write('{')
    await hup('stays as it was')
    use(b)
    await hup()
    expect(await served()).toEqual([200, 'b', 'b'])
  })

  it('threat 159: but not where it is empty or away, as without it nothing would have limits', async () => {
    const [found, moved] = ['turnpike.config.yaml', 'away.yaml'].map((name) => join(folder, name)) as [string, string]
    rmSync(file)
    writeFileSync(found, JSON.stringify({ server: { log: 'silent' } }))
    // Found in the working folder, and not named.
    server = await startServer({}, { cwd: folder })
    writeFileSync(found, '')
    await hup('It is empty')
    renameSync(found, moved)
    await hup('there is no such file')
    renameSync(moved, found)
    writeFileSync(found, '# By default.')
    await hup()
  })

  it('and says what waits for another start', async () => {
    await start({ STORAGE: '' })
    use(b, { store: 'memory', server: { port: 1 } })
    await hup()
    expect(server.output()).toContain('the next start takes store')
    expect(await served()).toEqual([200, 'b', 'b'])
  })

  it('where CONFIG_WATCH is set, when the file changes', async () => {
    await start({ CONFIG_WATCH: 'true' })
    use(b)
    await expect.poll(served).toEqual([200, 'b', 'b'])
  })

  it('by all workers', needs(programs.redis), async () => {
    const redis = await startRedis()
    try {
      await start({ WORKERS: '2', STORAGE: redis.url, FILES: 'memory' })
      use(b)
      await hup('was read again', 2)
      for (let i = 0; i < 20; i++) expect(await served()).toEqual([200, 'b', 'b'])
      await server.stop()
    } finally {
      await redis.stop()
    }
  })

  describe('while it is broken, a worker that is killed', needs(programs.redis), () => {
    let redis: RedisServer
    beforeAll(async () => {
      redis = await startRedis()
    })
    afterAll(() => redis.stop())

    const killAll = async (): Promise<void> => {
      const pids = childrenOf(server.process)
      expect(pids).toHaveLength(2)
      for (const pid of pids) process.kill(pid, 'SIGKILL')
      await expect.poll(() => childrenOf(server.process).filter((pid) => pids.includes(pid))).toEqual([])
    }

    it('is replaced by one with what was right last', async () => {
      await start({ WORKERS: '2', STORAGE: `${redis.url}/1`, FILES: 'memory' })
      use(b)
      await hup('was read again', 2)
      write('{ "providers": [{ "type": "opnai" }] }')
      await killAll()
      await expect.poll(() => times('starts with the last configuration that was right')).toBe(2)
      expect(server.output()).toContain('providers[0].type must be one of openai')
      await expect.poll(served).toEqual([200, 'b', 'b'])
      // What cannot be made is broken as well.
      write(
        JSON.stringify({ providers: [{ type: 'azure', apiKey: 'k', baseURL: 'http://a.example', apiVersion: 'x' }] }),
      )
      await killAll()
      await expect.poll(() => times('starts with the last configuration that was right')).toBe(4)
      await expect.poll(served).toEqual([200, 'b', 'b'])
      use(a)
      await hup('was read again', 2)
      for (let i = 0; i < 20; i++) expect(await served()).toEqual([200, 'a', 'a'])
    })

    it('is replaced once it is mended, where it is code with functions', async () => {
      file = join(folder, 'turnpike.config.mjs')
      const provider = { type: 'openai', id: 'a', baseURL: a.url, models: ['m'] }
      const right = `export default { providers: [{ ...${JSON.stringify(provider)}, apiKey: () => 'key-a' }] }`
      write(right)
      await start({ WORKERS: '2', STORAGE: `${redis.url}/2`, FILES: 'memory' })
      write(`${right} }`)
      await killAll()
      // The reason is told at each attempt.
      await expect.poll(() => times('A worker cannot start: '), { timeout: 30_000 }).toBeGreaterThan(2)
      expect(times('This file cannot be read: ')).toBe(times('A worker cannot start: '))
      write(right)
      await expect.poll(served, { timeout: 30_000 }).toEqual([200, 'a', 'a'])
    })
  })
})
