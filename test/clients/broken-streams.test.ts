import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest'
import { rejection } from '../support/failure.js'
import { held, streaming, textEvent } from '../support/faults.js'
import { uuidv7Pattern } from '../support/patterns.js'
import { runtime } from '../support/runtime.js'
import { joinText, parseStream } from '../support/sse.js'
import type { Stack } from '../support/stack.js'
import { startStack } from '../support/stack.js'
import { kinds } from './kinds.js'
import { openaiClient } from './openai-client.js'

interface Scenario {
  title: string
  /** What the upstream sends once the client has the text `Hello`. */
  tail: string
  code: string
  message: string
  outcome: string
}

const failed = {
  code: 'upstream_error',
  message: 'The upstream provider failed',
  outcome: 'upstream_error',
}
const truncated = {
  code: 'upstream_truncated',
  message: 'The upstream provider ended its answer before it was whole',
  outcome: 'truncated',
}

const scenarios: Scenario[] = [
  {
    title: 'an error event',
    tail: 'data: {"error":{"message":"Secret stack trace","type":"server_error","code":null}}\n\n',
    ...failed,
  },
  {
    title: 'an event that is not JSON',
    tail: 'data: {"choices":[{"index"\n\n',
    ...failed,
    message: 'The upstream provider sent an answer that makes no sense',
  },
  { title: 'an early end', tail: '', ...truncated },
  { title: 'an early [DONE]', tail: 'data: [DONE]\n\n', ...truncated },
]

let stack: Stack
beforeAll(async () => {
  stack = await startStack()
})
afterEach(() => {
  stack.fault = undefined
})
afterAll(() => stack.stop())

const streamed = { model: 'gpt-4o-mini', messages: [{ role: 'user', content: 'Hi' }], stream: true }

/** Lets the upstream send the text `Hello`, and `tail` only once the function that this returns was called. */
function breakAfterHello(tail: string): () => void {
  const { piece, send } = held()
  const answer = streaming(textEvent('Hello'), piece)
  stack.fault = () => answer
  return () => send(tail)
}

/** The bytes of a stream as text; `onPiece` is told of each read. */
async function read(onPiece: () => void): Promise<{ response: Response; text: string }> {
  const response = await fetch(`${stack.url}/chat/completions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${stack.key}`, 'content-type': 'application/json' },
    body: JSON.stringify(streamed),
  })
  let text = ''
  for await (const piece of response.body!.pipeThrough(new TextDecoderStream())) {
    text += piece
    onPiece()
  }
  return { response, text }
}

describe.each(scenarios)(`$title in mid-stream against ${runtime}`, ({ tail, code, message, outcome }) => {
  it.each(kinds)('is thrown by $name', async ({ connect, describeBreak }) => {
    const onText = vi.fn(breakAfterHello(tail))
    const { url, key } = stack
    const error = await rejection(connect({ url, key }).ask({ text: 'Hi' }, { stream: true, onText }))
    expect(describeBreak(error)).toEqual({ message, code })
    expect(onText.mock.calls).toEqual([['Hello']])
  })

  it('is thrown by openai with the request id', async () => {
    const onText = breakAfterHello(tail)
    const { url, key } = stack
    const error = await rejection(openaiClient.connect({ url, key }).ask({ text: 'Hi' }, { stream: true, onText }))
    expect(openaiClient.describe(error)).toMatchObject({
      status: undefined,
      type: 'upstream_error',
      code,
      requestId: expect.stringMatching(uuidv7Pattern) as string,
    })
  })

  it('keeps text that came in the same read', async () => {
    const { text } = await read(breakAfterHello(textEvent(' there') + tail))
    const events = parseStream(text)
    expect(joinText(events)).toBe('Hello there')
    expect(events.at(-1)).toEqual({ type: 'error', error: { type: 'upstream_error', code, message } })
  })

  it('ends the stream without [DONE], and is logged', async () => {
    const { response, text } = await read(breakAfterHello(tail))
    expect(response.status).toBe(200)
    expect(parseStream(text)).toEqual([
      {
        type: 'chunk',
        chunk: {
          id: 'chatcmpl-fault',
          object: 'chat.completion.chunk',
          created: 1_770_933_892,
          model: 'gpt-4o-mini',
          choices: [{ index: 0, delta: { role: 'assistant', content: 'Hello' }, finish_reason: null }],
        },
      },
      { type: 'error', error: { type: 'upstream_error', code, message } },
    ])
    const id = response.headers.get('x-request-id')!
    const logged = (): unknown => {
      const lines = stack.server.output().split('\n')
      return JSON.parse(lines.find((line) => line.includes(id) && line.includes('"request"')) ?? '{}')
    }
    await expect.poll(logged).toMatchObject({ request_id: id, status: 200, outcome })
    expect(stack.server.output()).not.toContain('Secret')
  })
})
