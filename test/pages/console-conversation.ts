import { chunksOf, done, piece, stream } from '../faults/wire.js'
import type { RawUpstream } from '../support/raw-upstream.js'
import type { Given } from './console.js'
import { consoleSuite } from './console.js'

/** Tests of conversations, whose replies come from `upstream`. */
export const conversationSuite = (name: string, upstream: RawUpstream, define: (given: () => Given) => void): void =>
  consoleSuite(name, define, { env: { OPENAI_API_KEY: 'sk-upstream', OPENAI_BASE_URL: `${upstream.url}/v1` } })

const chunk = chunksOf('chatcmpl-1', 'gpt-4o-mini')

/** The chunks of the beginning of a reply. */
export const words = (...texts: string[]): string[] => [
  chunk({ role: 'assistant' }),
  ...texts.map((content) => chunk({ content })),
]

/** A chunk of what a model thinks. */
export const thought = (reasoning_content: string): string => chunk({ reasoning_content })
/** A chunk of a reply that has begun. */
export const more = (text: string) => piece(chunk({ content: text }))

/** A whole reply. */
export const whole = (text: string, finish = 'stop') => stream(...words(text), chunk({}, finish), done)

/** What follows the beginning of a reply. */
export const rest = (text: string) => stream(chunk({ content: text }), chunk({}, 'stop'), done).slice(1)

/** Opens the conversation of a new project. */
export async function conversation({ person: { client }, open }: Given) {
  const { id } = await client.post('/api/projects', { body: { name: 'Website' } })
  await open(`/projects/${id}/conversation`, 'Website')
  const read = async () =>
    (await client.get('/api/projects/{id}/conversation', { params: { id } })).messages.map(({ role, text, state }) => [
      role,
      text,
      ...(state === undefined || state === 'done' ? [] : [state]),
    ])
  return { id, read }
}

export const composer = ({ page }: Given) => page.getByRole('textbox', { name: 'Message' })

/** Types a message and sends it. */
export const say = async (given: Given, text: string): Promise<void> => {
  await composer(given).fill(text)
  await composer(given).press('Enter')
}

/** The messages that the page shows. */
export const messages = ({ page }: Given) => page.getByRole('list', { name: 'Messages' }).getByRole('listitem')
