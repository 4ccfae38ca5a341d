/** Vendors that answer with texts of ours, after a time that passes at once or, for pages, as it does. */
import { fakeGoogle } from '@turnpike/providers/testing'
import { setTimeout as sleep } from 'node:timers/promises'
import { pass } from './clock.mjs'
import { answerTo } from './texts.mjs'

const google = fakeGoogle({ remember: 1 })
const tokens = (text) => Math.ceil(text.length / 4)
const encoder = new TextEncoder()

async function* encoded(pieces) {
  for await (const piece of pieces) yield encoder.encode(piece)
}

const reply = (status, body, type = 'application/json') => ({
  status,
  header: (name) => (name === 'content-type' ? type : undefined),
  body: encoded(typeof body === 'string' ? [body] : body),
})

/** A vendor's format: a whole answer, and the events of a stream. */
const formats = {
  'api.openai.com': {
    error: (status, message, code) => ({
      error: { message, type: status < 500 ? 'invalid_request_error' : 'server_error', param: null, code },
    }),
    whole: ({ model, prompt }, text) => ({
      id: 'chatcmpl-1',
      object: 'chat.completion',
      created: 1_770_000_000,
      model,
      choices: [{ index: 0, message: { role: 'assistant', content: text }, finish_reason: 'stop' }],
      usage: { prompt_tokens: prompt, completion_tokens: tokens(text), total_tokens: prompt + tokens(text) },
    }),
    *events({ model, prompt }, text) {
      const event = (fields) =>
        `data: ${JSON.stringify({ id: 'chatcmpl-1', object: 'chat.completion.chunk', created: 1_770_000_000, model, ...fields })}\n\n`
      const choice = (delta, finish_reason = null) => event({ choices: [{ index: 0, delta, finish_reason }] })
      yield choice({ role: 'assistant', content: '' })
      for (const content of text.match(/\s*\S+/g)) yield choice({ content })
      yield choice({}, 'stop')
      const usage = { prompt_tokens: prompt, completion_tokens: tokens(text), total_tokens: prompt + tokens(text) }
      yield event({ choices: [], usage })
      yield 'data: [DONE]\n\n'
    },
  },
  'api.anthropic.com': {
    error: (status, message, type) => ({ type: 'error', error: { type, message } }),
    whole: ({ model, prompt }, text) => ({
      id: 'msg_1',
      type: 'message',
      role: 'assistant',
      model,
      content: [{ type: 'text', text }],
      stop_reason: 'end_turn',
      stop_sequence: null,
      usage: { input_tokens: prompt, output_tokens: tokens(text) },
    }),
    *events(asked, text) {
      const event = (fields) => `event: ${fields.type}\ndata: ${JSON.stringify(fields)}\n\n`
      const { usage, ...message } = this.whole(asked, '')
      yield event({ type: 'message_start', message: { ...message, content: [], stop_reason: null, usage } })
      yield event({ type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } })
      for (const word of text.match(/\s*\S+/g))
        yield event({ type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: word } })
      yield event({ type: 'content_block_stop', index: 0 })
      yield event({
        type: 'message_delta',
        delta: { stop_reason: 'end_turn', stop_sequence: null },
        usage: { output_tokens: tokens(text) },
      })
      yield event({ type: 'message_stop' })
    },
  },
}

/**
 * Makes the transport of all providers.
 * @returns the transport, and its `script`: what the next calls meet. `faults` are `[status, message, code]` by host, each for one call; `wait` is how
 * long the first word takes, in milliseconds; with `live`, all words take their time
 */
export function upstreams() {
  const script = { faults: {}, wait: 400, live: false }
  const transport = async (request) => {
    const { hostname } = new URL(request.url)
    const format = formats[hostname]
    const linger = (ms) => (script.live ? sleep(ms) : pass(ms))
    if (!format || request.method === 'GET') {
      await linger(script.wait)
      return google.transport(request)
    }
    const fault = script.faults[hostname]?.shift()
    if (fault) {
      await linger(script.wait / 4)
      return reply(fault[0], JSON.stringify(format.error(...fault)))
    }
    const body = JSON.parse(request.body)
    const question = JSON.stringify(body.messages)
    const asked = { model: body.model, prompt: tokens(question) }
    const text = answerTo(question, body.model)
    if (!body.stream) {
      await linger(script.wait + tokens(text) * 8)
      return reply(200, JSON.stringify(format.whole(asked, text)))
    }
    const paced = async function* () {
      let count = 0
      for (const event of format.events(asked, text)) {
        if (count++ === 1) await linger(script.wait)
        else if (script.live) await sleep(12)
        else pass(14)
        yield event
      }
    }
    return reply(200, paced(), 'text/event-stream')
  }
  return { transport, script }
}
