import type { Call, JsonSchema, Tool } from '@turnpike/agent'
import { turnpike } from '../turnpike.js'

/** Characters of a file that a model is told. */
const MOST = 50_000

const strings = (...names: string[]): JsonSchema => ({
  type: 'object',
  properties: Object.fromEntries(names.map((name) => [name, { type: 'string' }])),
  required: names,
})

/** What an agent can do in this page: with the files of whoever is signed in. */
export const agentTools: readonly Tool[] = [
  {
    name: 'list_files',
    description: 'Lists the newest files of the user: name, type, size in bytes and id.',
    parameters: strings(),
    async run(_, { signal }) {
      const { items } = await turnpike.list('/api/user-files', { query: { limit: 100 }, signal })
      return items.map(({ id, display_name, mime_type, size_bytes }) => ({ id, display_name, mime_type, size_bytes }))
    },
  },
  {
    name: 'read_file',
    description: 'Reads a text file of the user by its id.',
    parameters: strings('id'),
    async run({ id }: { id: string }, { signal }) {
      const file = await turnpike.get('/api/user-files/{id}', { params: { id }, signal })
      if (!/^text\/|json|xml/.test(file.mime_type)) throw new Error(`${file.display_name} is no text`)
      const response = await fetch(file.url, { signal })
      if (!response.ok) throw new Error(`The file could not be read: ${response.status}`)
      const text = await response.text()
      return text.length > MOST ? `${text.slice(0, MOST)}\n[cut off]` : text
    },
  },
  {
    name: 'save_file',
    description: 'Saves a text as a new file of the user.',
    parameters: strings('name', 'text'),
    async run({ name, text }: { name: string; text: string }, { signal }) {
      const { id } = await turnpike.upload(new Blob([text], { type: 'text/plain' }), { name, signal })
      return `Saved, its id is ${id}`
    },
  },
]

/** The name of the file that a call would read, so that nobody allows it by an id alone; undefined for other calls, and where there is none. */
export async function subjectOf({ name, args }: Call, signal: AbortSignal): Promise<string | undefined> {
  if (name !== 'read_file') return undefined
  const { id } = args as { id: string }
  const file = await turnpike.get('/api/user-files/{id}', { params: { id }, signal }).catch(() => undefined)
  return file?.display_name
}
