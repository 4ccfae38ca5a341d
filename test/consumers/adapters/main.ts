import { toChunks } from '@turnpike/providers'
import { anthropic } from '@turnpike/providers/anthropic'
import { google } from '@turnpike/providers/google'
import { openai } from '@turnpike/providers/openai'

const families = { anthropic, google, openai }

/** Asks one model; gives the pieces of its answer as they come. */
export async function* ask(
  family: keyof typeof families,
  options: { apiKey: string; baseURL: string },
  model: string,
  question: string,
): AsyncGenerator<string> {
  const provider = families[family](options)
  const stream = await provider.chat.stream(
    { model, messages: [{ role: 'user', content: question }], stream: true },
    { signal: AbortSignal.timeout(60_000) },
  )
  for await (const { choices } of toChunks(stream)) yield choices[0]?.delta.content ?? ''
}
