import { readdir, readFile, realpath } from 'node:fs/promises'
import { join, relative, resolve, sep } from 'node:path'
import type { JsonSchema, Tool } from '@turnpike/agent'
import type { Client } from '@turnpike/client'

/** Characters of a page or file that the model is told. */
const MOST = 50_000

const strings = (...names: string[]): JsonSchema => ({
  type: 'object',
  properties: Object.fromEntries(names.map((name) => [name, { type: 'string' }])),
  required: names,
})

/** Bytes of a page that are read; what follows is not waited for. */
const PAGE_BYTES = 1_000_000

const cut = (text: string): string => (text.length > MOST ? `${text.slice(0, MOST)}\n[cut off]` : text)

/** The real path of a file in the folder. @throws Error for one outside, also by a link */
async function inside(folder: string, path: string): Promise<string> {
  const root = await realpath(folder)
  const found = await realpath(resolve(root, path))
  const way = relative(root, found)
  if (way === '..' || way.startsWith(`..${sep}`) || resolve(way) === way)
    throw new Error(`${path} is not in the folder`)
  return found
}

/** The paths below a folder, the nearest first. Links are named and not followed: they may lead out, or round in a circle. */
async function pathsBelow(top: string, signal: AbortSignal): Promise<string> {
  let paths = ''
  const folders = [top]
  for (const folder of folders)
    for (const entry of await readdir(folder, { withFileTypes: true })) {
      signal.throwIfAborted()
      const path = join(folder, entry.name)
      if (entry.isDirectory()) folders.push(path)
      paths += `${paths && '\n'}${relative(top, path)}`
      if (paths.length > MOST) return paths
    }
  return paths
}

/** The beginning of a page. */
async function beginningOf({ body }: Response): Promise<string> {
  const decoder = new TextDecoder()
  let text = ''
  let size = 0
  for await (const bytes of body ?? []) {
    text += decoder.decode(bytes, { stream: true })
    size += bytes.length
    if (size > PAGE_BYTES) break
  }
  return text
}

/** What is written on a page. Each tag is looked at once: a pattern would look for its end in all that follows, which takes the square of the length. */
function textOf(html: string): string {
  const [first = '', ...pieces] = html.split('<')
  const texts = [first]
  /** The end of a script or style that is left out. */
  let until: string | undefined
  for (const piece of pieces) {
    const name = /^\/?\w{0,10}/.exec(piece)![0].toLowerCase()
    if (until !== undefined && name !== until) continue
    until = name === 'script' || name === 'style' ? `/${name}` : undefined
    if (until !== undefined) continue
    const end = piece.indexOf('>')
    texts.push(end === -1 ? `<${piece}` : ` ${piece.slice(end + 1)}`)
  }
  return texts.join('').replace(/\s+/g, ' ')
}

/** What the agents can do: fetch pages, read the files of a folder, and save files of the user on the platform. */
export function toolsOf(client: Client, folder: string): Tool[] {
  return [
    {
      name: 'fetch_page',
      description: 'Fetches a web page by its https address and returns its text.',
      parameters: strings('url'),
      seconds: 20,
      async run({ url }: { url: string }, { signal }) {
        if (new URL(url).protocol !== 'https:') throw new Error('Only https addresses are fetched')
        // The address that was approved is the one that is fetched.
        const response = await fetch(url, { signal, redirect: 'error' })
        if (!response.ok) throw new Error(`The server answered ${response.status}`)
        return cut(textOf(await beginningOf(response)))
      },
    },
    {
      name: 'list_files',
      description: 'Lists the files of the project, below a folder such as ".".',
      parameters: strings('folder'),
      run: async ({ folder: below }: { folder: string }, { signal }) =>
        cut(await pathsBelow(await inside(folder, below), signal)),
    },
    {
      name: 'read_file',
      description: 'Reads a text file of the project.',
      parameters: strings('path'),
      run: async ({ path }: { path: string }) => cut(await readFile(await inside(folder, path), 'utf8')),
    },
    {
      name: 'save_file',
      description: 'Saves a text as a file of the user.',
      parameters: strings('name', 'text'),
      async run({ name, text }: { name: string; text: string }, { signal }) {
        const { id } = await client.upload(new Blob([text], { type: 'text/plain' }), { name, signal })
        return `Saved as ${name}, its id is ${id}`
      },
    },
  ]
}
