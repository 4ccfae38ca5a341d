import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { expect, it } from 'vitest'
import { project } from './release.js'

const run = promisify(execFile)

/** Starts `turnpike` in the project, which has no optional peers. @returns why that failed */
async function failureOf(settings: object): Promise<string> {
  const program = `import { turnpike } from 'turnpike'
    await turnpike(${JSON.stringify({ providers: [{ type: 'openai', simulated: true }], ...settings })}).then(
      () => console.log('It has started'),
      (error) => console.log(error.name + ': ' + error.message),
    )
    process.exit()`
  const { stdout } = await run(process.execPath, ['--input-type=module', '--eval', program], { cwd: project })
  return stdout.trimEnd()
}

it.each([
  ['ioredis', 'STORAGE at redis://', { store: 'redis://localhost' }],
  ['pg', 'STORAGE at postgres://', { store: 'postgres://localhost/x' }],
  ['unstorage', 'STORAGE at driver:', { store: 'driver:memory' }],
  [
    'nodemailer',
    'SMTP_URL at smtp://',
    {
      store: 'memory',
      server: { baseUrl: 'https://ai.example' },
      mail: { url: 'smtp://localhost', from: 'a@ai.example' },
    },
  ],
  [
    'oauth4webapi',
    'platform.signInProviders',
    {
      store: 'memory',
      server: { baseUrl: 'https://ai.example' },
      platform: { signInProviders: [{ preset: 'google', clientId: 'c' }] },
    },
  ],
  ['ioredis', 'FILES at rediss://', { store: 'memory', files: { store: 'rediss://localhost' } }],
])('turnpike says that %s has to be installed for %s', async (name, what, settings) => {
  expect((await failureOf(settings)).split('\n').at(-1)).toBe(
    `ConfigError: ${what} needs the package ${name}: npm install ${name}`,
  )
})

it('turnpike starts without them where it needs none', async () => {
  expect(await failureOf({ store: 'memory' })).toContain('It has started')
})
