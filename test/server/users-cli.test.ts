import { execFile } from 'node:child_process'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { startServer } from '../support/server.js'

const script = fileURLToPath(new URL('../../examples/server/dist/users.js', import.meta.url))

let folder: string
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'turnpike-users-'))
})
afterAll(() => rm(folder, { recursive: true }))

interface Ended {
  code: number
  stdout: string
  stderr: string
}

/** Runs the command on the store of this file. */
const users = (args: string[], STORAGE = `fs:${folder}`): Promise<Ended> =>
  new Promise((resolve) => {
    const env = { PATH: process.env['PATH'], STORAGE, PASSWORD_COST: '8' }
    execFile(process.execPath, [script, ...args], { env }, (error, stdout, stderr) =>
      resolve({ code: error ? Number(error.code) : 0, stdout, stderr }),
    )
  })

describe('npm run users', () => {
  it('makes users with a password that it prints or that it is given, who can sign in', async () => {
    const added = await users(['add', 'ada@example.org'])
    expect(added).toEqual({
      code: 0,
      stdout: expect.stringMatching(/^ada@example\.org {2}[\w-]{16}\n$/) as string,
      stderr: '',
    })
    const bob = ['bob@example.org', '--password', 'correct horse']
    expect(await users(['add', ...bob, '--role', 'developer'])).toMatchObject({ code: 0, stdout: 'bob@example.org\n' })
    expect(await users(['add', 'Ada@example.org'])).toEqual({
      code: 1,
      stdout: '',
      stderr: 'add failed: The e-mail is taken\n',
    })
    expect(await users(['password', 'bob@example.org', '--password', 'battery staple'])).toMatchObject({ code: 0 })

    const server = await startServer({ STORAGE: `fs:${folder}` })
    const signIn = async (email: string, password: string) => {
      const headers = { 'content-type': 'application/json' }
      const body = JSON.stringify({ email, password })
      const response = await fetch(`${server.url}/api/auth`, { method: 'POST', headers, body })
      const { user } = (await response.json()) as { user?: { metadata: { role: string } } }
      return [response.status, user?.metadata.role]
    }
    const made = added.stdout.trim().split('  ')[1]!
    expect(await signIn('ada@example.org', made)).toEqual([200, 'user'])
    expect(await signIn('bob@example.org', 'battery staple')).toEqual([200, 'developer'])
    expect(await signIn('bob@example.org', 'correct horse')).toEqual([401, undefined])

    const refused = await users(['add', 'eve@example.org'])
    expect(refused).toMatchObject({ code: 1, stdout: '' })
    expect(refused.stderr).toMatch(/^add failed: .* is in use by process \d+/)
    await server.stop()
  })

  it.each([
    [['add', 'bob'], 'add failed: bob is not an e-mail address'],
    [['add', 'eve@example.org', '--password', 'short'], 'add failed: A password has 8 to 256 characters'],
    [['password', 'nobody@example.org'], 'password failed: There is no user nobody@example.org'],
  ])('says why it fails: %j', async (args, message) =>
    expect(await users(args)).toEqual({ code: 1, stdout: '', stderr: `${message}\n` }),
  )

  it.each([
    ['memory', 'STORAGE=memory is a store of the server alone; use POST /api/users'],
    ['mysql://x', expect.stringMatching(/^STORAGE must be memory, fs:FOLDER/) as string],
  ])('says what is wrong with STORAGE=%s', async (storage, message) => {
    const { code, stderr } = await users(['add', 'eve@example.org'], storage)
    expect([code, stderr.trim().replace('add failed: ', '')]).toEqual([1, message])
  })

  it.each<string[][]>([
    [[]],
    [['add']],
    [['remove', 'ada@example.org']],
    [['add', 'eve@example.org', 'developer']],
    [['add', 'eve@example.org', '--role', 'root']],
    [['add', 'eve@example.org', '--name', 'Eve']],
    [['password', 'ada@example.org', '--role', 'admin']],
  ])('shows its usage for %j', async (args) => {
    const { code, stdout, stderr } = await users(args)
    expect([code, stdout, stderr.split('\n')[0]]).toEqual([2, '', 'Usage: npm run -s users -- COMMAND EMAIL [OPTIONS]'])
  })
})
