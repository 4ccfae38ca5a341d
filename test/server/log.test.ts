import { expect, it, vi } from 'vitest'
import { createLog } from '../../examples/server/src/log.js'
import { startServer } from '../support/server.js'

it('has a line for each request, each whole', async () => {
  const server = await startServer()
  const before = server.output().length
  await Promise.all(Array.from({ length: 50 }, () => fetch(`${server.url}/health`).then((answer) => answer.text())))
  await server.stop()
  const lines = server.output().slice(before).trim().split('\n')
  const parsed = lines.map((line) => JSON.parse(line) as Record<string, unknown>)
  expect(parsed.filter(({ msg }) => msg === 'request')).toHaveLength(50)
  expect(parsed[0]).toMatchObject({ level: 30, method: 'GET', route: '/health', status: 200, msg: 'request' })
  expect(new Date(parsed[0]!['time'] as string).getTime()).toBeGreaterThan(Date.now() - 60_000)
})

it('does not end the server when its reader goes away', async () => {
  const server = await startServer()
  server.process.stdout!.destroy()
  for (let i = 0; i < 20; i++) expect((await fetch(`${server.url}/health`)).status).toBe(200)
  expect(await server.stop()).toBe(0)
})

it.each([
  ['silent', 0],
  ['error', 0],
  ['info', 1],
])('with LOG=%s, a request has %d lines', async (LOG, count) => {
  const server = await startServer({ LOG })
  await (await fetch(`${server.url}/health`)).text()
  await server.stop()
  expect(server.output().match(/"msg":"request"/g) ?? []).toHaveLength(count)
})

it('has what was logged in the turn in which the process ends', () => {
  const { onError } = createLog('info')
  const exit = process.listeners('exit').at(-1)!
  const write = vi.spyOn(process.stdout, 'write').mockReturnValue(true)
  onError(new Error('secret'), { sweep: 'holds' })
  exit(1)
  const [[line]] = write.mock.calls as [[string]]
  write.mockRestore()
  process.removeListener('exit', exit)
  expect(JSON.parse(line)).toMatchObject({ level: 50, sweep: 'holds', error: 'Error', msg: 'error' })
  expect(line).not.toContain('secret')
})
