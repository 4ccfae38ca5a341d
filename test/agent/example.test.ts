import { mkdtemp, mkdir, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Tool } from '@turnpike/agent'
import { fixedTeams } from '@turnpike/platform'
import { PassThrough } from 'node:stream'
import { afterAll, beforeAll, expect, it, vi } from 'vitest'
import { terminalOf } from '../../examples/agent-worker/approve.js'
import { cutLine, lineOf } from '../../examples/agent-worker/lines.js'
import { agentOf, team } from '../../examples/agent-worker/team.js'
import { toolsOf } from '../../examples/agent-worker/tools.js'
import { failure, signedInClient } from '../support/client.js'

const { signal } = new AbortController()

let parent: string
let folder: string
beforeAll(async () => {
  parent = await mkdtemp(join(tmpdir(), 'turnpike-agent-'))
  folder = join(parent, 'project')
  await mkdir(join(folder, 'src'), { recursive: true })
  await writeFile(join(folder, 'src', 'main.ts'), 'Inside')
  await mkdir(join(parent, 'project-2'))
  await writeFile(join(parent, 'project-2', 'secret'), 'Outside')
  await symlink(join(parent, 'project-2'), join(folder, 'link'))
})
afterAll(() => rm(parent, { recursive: true }))

const toolNamed = async (name: string): Promise<{ tool: Tool; at: Awaited<ReturnType<typeof signedInClient>> }> => {
  const at = await signedInClient()
  return { tool: toolsOf(at.turnpike, folder).find((one) => one.name === name)!, at }
}

it('threat 101: files outside of the folder are not read, by a path or a link', async () => {
  const { tool: read } = await toolNamed('read_file')
  const { tool: list } = await toolNamed('list_files')
  for (const path of ['src/main.ts', './src/../src/main.ts', join(folder, 'src/main.ts')])
    expect(await read.run({ path }, { signal })).toBe('Inside')
  for (const path of [
    '../project-2/secret',
    'link/secret',
    join(parent, 'project-2/secret'),
    '/etc/passwd',
    'src/../..',
  ])
    expect((await failure(read.run({ path }, { signal }) as Promise<unknown>)).message).toBe(
      `${path} is not in the folder`,
    )
  for (const below of ['..', 'link'])
    expect((await failure(list.run({ folder: below }, { signal }) as Promise<unknown>)).message).toMatch(
      /is not in the folder/,
    )
  expect(await list.run({ folder: 'src' }, { signal })).toBe('main.ts')
  const all = (await list.run({ folder: '.' }, { signal })) as string
  expect(all.split('\n').toSorted()).toEqual(['link', 'src', 'src/main.ts'])
})

it('threat 113: folders that link each other are listed once, and long lists are cut and can be stopped', async () => {
  const circle = await mkdtemp(join(parent, 'circle-'))
  const names = ['a', 'b', 'c']
  for (const name of names) await mkdir(join(circle, name))
  for (const from of names) for (const to of names) await symlink(join(circle, to), join(circle, from, to))
  const list = (folder: string, signal: AbortSignal) =>
    toolsOf(undefined as never, folder)
      .find(({ name }) => name === 'list_files')!
      .run({ folder: '.' }, { signal }) as Promise<string>
  expect((await list(circle, signal)).split('\n')).toHaveLength(12)
  await expect(list(circle, AbortSignal.abort(new Error('Stopped')))).rejects.toThrow('Stopped')
  const long = 'x'.repeat(200)
  for (let i = 0; i < 300; i++) await writeFile(join(circle, 'c', `${long}${i}`), '')
  expect(await list(circle, signal)).toMatch(/^a\nb\nc\na\/.{49000,}\n\[cut off\]$/s)
})

it('threat 101: pages are fetched by https, from the address that was approved', async () => {
  const { tool } = await toolNamed('fetch_page')
  for (const url of ['http://127.0.0.1/', 'file:///etc/passwd', 'data:text/plain,A', 'httpsx://a/'])
    expect((await failure(tool.run({ url }, { signal }) as Promise<unknown>)).message).toBe(
      'Only https addresses are fetched',
    )
})

it('threat 109: pages that never end, or whose marks do not, keep no worker busy', async () => {
  const { tool } = await toolNamed('fetch_page')
  const page = async (...pieces: string[]): Promise<unknown> => {
    const endless = new ReadableStream<Uint8Array>({
      pull: (controller) => controller.enqueue(new TextEncoder().encode(pieces.shift() ?? ' '.repeat(100_000))),
    })
    vi.stubGlobal('fetch', async () => new Response(endless))
    try {
      return await tool.run({ url: 'https://a/' }, { signal })
    } finally {
      vi.unstubAllGlobals()
    }
  }
  const html = '<p title="a">1 < 2</p><SCRIPT>a<b>c</script ><style>d</style>\n<h1>End</h1>'
  expect(await page(html)).toBe(' 1 < 2 End ')
  const begun = performance.now()
  for (const mark of ['<', '<script ', '<style>', '</script'])
    expect(typeof (await page(mark.repeat(100_000)))).toBe('string')
  expect(performance.now() - begun).toBeLessThan(5_000)
})

it('what is saved is a file of the user', async () => {
  const { tool, at } = await toolNamed('save_file')
  expect(await tool.run({ name: 'a.md', text: 'Hello' }, { signal })).toMatch(/^Saved as a\.md, its id is /)
  expect((await at.turnpike.list('/api/user-files')).items).toMatchObject([{ display_name: 'a.md' }])
})

it('without a terminal, what is not allowed is refused', async () => {
  const { approve } = terminalOf(new Set(['read_file']))
  if (typeof approve !== 'function') throw new TypeError('It is a function')
  const call = (name: string) => approve({ id: 'a', name, args: {} }, { signal })
  expect([await call('read_file'), await call('fetch_page')]).toEqual([true, 'nobody is there to allow it'])
})

it('threat 110: what is asked on the terminal is what is run, whatever characters a page makes a model write', async () => {
  const evil = '\u001b[8m\r\u009b2J\u202e\u2028\ufe01\u3000'
  const safe = '\\u{1b}[8m\\u{d}\\u{9b}2J\\u{202e}\\u{2028}\\u{fe01}\\u{3000}'
  expect(lineOf('T', { type: 'refused', id: 'a', name: evil, reason: `There is no tool ${evil}` })).toBe(
    `- T: There is no tool ${safe}`.slice(0, 71) + '…',
  )
  const { approve, say } = terminalOf(new Set())
  if (typeof approve !== 'function') throw new TypeError('It is a function')
  const [input, output] = [new PassThrough(), new PassThrough()]
  const said = vi.spyOn(console, 'log').mockReturnValue()
  vi.spyOn(process, 'stdin', 'get').mockReturnValue(Object.assign(input, { isTTY: true }) as never)
  vi.spyOn(process, 'stdout', 'get').mockReturnValue(output as never)
  try {
    for (const args of [
      { url: 'https://a/\u202e\u009b2J' },
      { url: 'https://evil', more: ' '.repeat(200) + 'Allow x?' },
    ]) {
      const answer = approve({ id: 'a', name: 'fetch_page', args }, { signal })
      await expect.poll(() => output.readableLength).toBeGreaterThan(0)
      say(cutLine(`T: ${' '.repeat(300)}Allow list_files? [y]es, [a]lways, [N]o: `))
      expect(said).not.toHaveBeenCalled()
      input.write('n\n')
      expect(await answer).toBe(false)
      expect(said).toHaveBeenCalledExactlyOnceWith(`- T: ${' '.repeat(66)}…`)
      said.mockClear()
    }
  } finally {
    vi.restoreAllMocks()
  }
  const shown = String(output.read())
  expect(shown).toContain('  | fetch_page {"url":"https://a/\\u{202e}\\u{9b}2J"}\nAllow fetch_page?')
  for (const line of shown.split('\n').filter((one) => /\S/.test(one)))
    expect(line).toMatch(/^  \| .{1,70}$|^.{0,9}Allow fetch_page\?/u)
})

it('the platform lists the team, and each task has the agent that it is assigned to', async () => {
  const at = await signedInClient({}, {}, { teams: fixedTeams({ 'software-development': team }) })
  const { id } = await at.turnpike.post('/api/projects', { body: { name: 'P', teamType: 'software-development' } })
  const { agents } = await at.turnpike.get('/api/projects/{id}/team', { params: { id } })
  expect(agents.map(({ name }) => name)).toEqual(['Developer', 'Reviewer'])
  const agent = (assigned_agent_id: number | null) => agentOf({ assigned_agent_id })?.name
  expect([agent(null), agent(2), agent(3), agent(1)]).toEqual(['Developer', 'Developer', 'Reviewer', undefined])
})
