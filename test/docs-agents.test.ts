import { execFile } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { blocksOf, readPage, sectionOf } from './support/page.js'
import type { Server } from './support/server.js'
import { startServer } from './support/server.js'

const run = promisify(execFile)
const page = readPage('docs/agents.md')
const PASSWORD = 'guide-of-agents'

let server: Server
beforeAll(async () => {
  server = await startServer({ ADMIN_PASSWORD: PASSWORD })
})
afterAll(() => server.stop())

it('docs/agents.md: who pastes its lines has a task done by two agents, and approves it once', async () => {
  const sections = ['Create a token and a task', 'Start a worker', 'Approve it']
  const lines = sections.flatMap((heading) => blocksOf(sectionOf(page, heading), 'sh')).join('')
  expect(lines).toContain('export URL=http://127.0.0.1:8787 PASSWORD=…\n')
  const script = lines
    .replace(/^export URL=.*$/m, `export URL=${server.url} PASSWORD=${PASSWORD}`)
    // What it installs and builds first is there.
    .replace('npm start)', 'npm start --ignore-scripts)')
  const { PATH, HOME } = process.env
  // As in a terminal, jobs are groups of processes.
  const { stdout } = await run('bash', ['--norc', '-euo', 'pipefail', '-c', `set -m\n${script}\nwait`], {
    cwd: fileURLToPath(new URL('..', import.meta.url)),
    env: { PATH, HOME },
    timeout: 50_000,
  })
  expect(stdout.match(/^- Headline: .*$/gm)).toEqual([
    '- Headline: Developer asks gpt-4o-mini',
    '- Headline: save_file {"name":"name","text":"text"}',
    '- Headline: Developer asks gpt-4o-mini',
    '- Headline: Reviewer asks gpt-4o-mini',
    '- Headline: waiting_approval',
  ])
  const [task, files, spend] = stdout
    .split('\n')
    .filter((line) => /^[[{]/.test(line))
    .slice(-3)
    .map((line) => JSON.parse(line) as unknown)
  expect(task).toMatchObject({ status: 'done', output: expect.stringContaining('Saved as name') as string })
  expect(files).toMatchObject([{ display_name: 'name' }])
  expect(spend).toMatchObject({ requests: 3, since: { requests: 0 } })
})
