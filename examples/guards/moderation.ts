import type { Guard } from '@turnpike/gateway'
import { refuse } from '@turnpike/gateway'
import { textsIn } from './texts.js'

/** Whether one of the texts is against the rules. */
export type Moderate = (texts: string[], signal: AbortSignal) => Promise<boolean>

/** Asks OpenAI's moderation, which costs nothing. */
export const byOpenai =
  (apiKey: string, baseURL = 'https://api.openai.com/v1'): Moderate =>
  async (input, signal) => {
    const response = await fetch(`${baseURL}/moderations`, {
      method: 'POST',
      headers: { authorization: `Bearer ${apiKey}`, 'content-type': 'application/json' },
      body: JSON.stringify({ model: 'omni-moderation-latest', input }),
      signal,
    })
    // What could not be judged does not pass: the caller gets a 500.
    if (!response.ok) throw new Error(`The moderation answered ${response.status}`)
    const { results } = (await response.json()) as { results: { flagged: boolean }[] }
    return results.some(({ flagged }) => flagged)
  }

interface Messages {
  messages?: readonly { content?: string | readonly { text?: string }[] | null }[]
}

/** What the messages say, one after the other: a sentence may be split over parts and messages. */
const said = ({ messages = [] }: Messages): string =>
  messages
    .flatMap(({ content }) => (typeof content === 'string' ? content : (content ?? []).map(({ text = '' }) => text)))
    .join('')

/** Refuses requests and answers that are against the rules. */
export const moderation = (isHarmful: Moderate): Guard => ({
  name: 'moderation',
  async request({ request, signal }) {
    const { model: _, provider: __, ...all } = request as Record<string, unknown>
    const whole = said(all)
    const texts = whole === '' ? textsIn(all) : textsIn(all).add(whole)
    if (await isHarmful([...texts], signal)) throw refuse('This request is against our rules')
  },
  // A call for each thousand characters of a stream, which go out when the next thousand are there.
  lookBack: 1_000,
  async text(text, { signal }) {
    if (await isHarmful([text], signal)) throw refuse('The answer was against our rules')
  },
})
