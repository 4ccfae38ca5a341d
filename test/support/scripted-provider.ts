import type { ChatProvider } from '@turnpike/core'
import type { Transport } from '@turnpike/providers'
import { anthropic, google, openai } from '@turnpike/providers'

const makers = { openai, anthropic, google }
const utf8 = new TextEncoder()

/** A provider of a family whose upstream gives `pieces`, each in one read, with a media type. */
export function providerOf(
  family: string,
  pieces: string[],
  type: string | undefined,
  options: object = {},
): ChatProvider {
  const transport: Transport = async () => ({
    status: 200,
    header: (name) => (name === 'content-type' ? type : undefined),
    body: (async function* () {
      for (const piece of pieces) yield utf8.encode(piece)
    })(),
  })
  return makers[family as 'openai']({ apiKey: 'x', transport, ...options })
}

/** An event of a stream; a text is sent as it is. */
export const eventOf = (value: object | string): string =>
  typeof value === 'string' ? value : `data: ${JSON.stringify(value)}\n\n`

/** A provider whose upstream answers with one JSON where a whole answer is asked for, and with events where a stream is. */
export function scripted(family: string, ...values: (object | string)[]): ChatProvider {
  const whole = providerOf(family, [JSON.stringify(values[0])], 'application/json')
  const streamed = providerOf(family, values.map(eventOf), 'text/event-stream')
  return { ...whole, chat: { ...whole.chat, stream: streamed.chat.stream } }
}
