import { expectEqual, expectThat, show } from './expect.js'
import type { Json, Sent } from './families/family.js'
import { parseJson } from './families/family.js'
import type { Stream } from './sse.js'

export interface ToolCall {
  id: string | undefined
  name: string | undefined
  /** The text of its arguments. */
  arguments: string
}

/** A choice, whole or joined from its chunks. */
export interface Choice {
  /** Empty where it is null. */
  content: string
  calls: ToolCall[]
  finish: string | null | undefined
}

/** What came of a case on both sides of the gateway. */
export interface Passed {
  /** 0 if the connection broke before it. */
  status: number
  headers: Headers
  /** The body as far as it came. */
  text: string
  /** The connection broke in the body. */
  broken: boolean
  /** The body as JSON; undefined if it is none. */
  json: Json | undefined
  /** The body as a stream of events; undefined if it is none. */
  stream: Stream | undefined
  /** What the client had received when the upstream had waited for it. */
  early: string
  /** The gateway closed its connection to the upstream before the end of the answer. */
  closed: boolean
  /** The requests that reached the upstream and that its vendor would accept, oldest first. */
  sent: Sent[]
}

interface Message {
  content?: string | null
  tool_calls?: { id?: string; function?: { name?: string; arguments?: string } }[] | null
}

const callOf = ({ id, function: of }: NonNullable<Message['tool_calls']>[number]): ToolCall => ({
  id,
  name: of?.name,
  arguments: of?.arguments ?? '',
})

function wholeChoices(json: Json): Choice[] {
  const choices = (json['choices'] ?? []) as { message?: Message; finish_reason?: string }[]
  return choices.map(({ message, finish_reason }) => ({
    content: message?.content ?? '',
    calls: (message?.tool_calls ?? []).map(callOf),
    finish: finish_reason,
  }))
}

/** Joins the chunks of each choice as OpenAI's clients do: tool calls by their index. */
export function joinedChoices({ chunks }: Stream): Choice[] {
  const choices: Choice[] = []
  for (const { index = 0, delta, finish_reason } of chunks.flatMap((chunk) => chunk.choices ?? [])) {
    const choice = (choices[index] ??= { content: '', calls: [], finish: undefined })
    choice.content += delta?.content ?? ''
    choice.finish = finish_reason ?? choice.finish
    for (const part of delta?.tool_calls ?? []) {
      const call = (choice.calls[part.index ?? 0] ??= { id: undefined, name: undefined, arguments: '' })
      call.id ??= part.id
      call.name ??= part.function?.name
      call.arguments += part.function?.arguments ?? ''
    }
  }
  // An index that was left out is no call.
  return choices.map((choice) => ({ ...choice, calls: choice.calls.filter(Boolean) }))
}

/** The choices of a successful answer. */
export function choicesOf(passed: Passed): Choice[] {
  const { status, stream, json } = passed
  expectEqual('the status', status, 200)
  if (!stream && !json) throw new Error(`the body: expected JSON or events, got ${show(passed.text)}`)
  expectThat('the answer', !stream?.errors.length && !passed.broken, 'no error', stream?.errors[0] ?? 'a broken body')
  return stream ? joinedChoices(stream) : wholeChoices(json!)
}

/** The only choice. */
export function choiceOf(passed: Passed): Choice {
  const choices = choicesOf(passed)
  const [choice] = choices
  if (!choice || choices.length > 1) throw new Error(`the choices: expected one, got ${choices.length}`)
  return choice
}

/** The arguments of a call. */
export function argsOf({ name, arguments: text }: ToolCall): Json {
  const args = parseJson(text)
  if (!args) throw new Error(`the arguments of ${name ?? 'a call'}: expected an object in JSON, got ${show(text)}`)
  return args
}

/** The message of an answer as a client keeps it for the next request: with all its fields, joined from chunks as OpenRouter's clients do. */
export function messageIn(passed: Passed): Json {
  choiceOf(passed)
  const { stream, json } = passed
  if (!stream) return (json!['choices'] as { message: Json }[])[0]!.message
  const message: Json = { role: 'assistant' }
  for (const { delta = {} } of stream.chunks.flatMap(({ choices = [] }) => choices))
    join(message, structuredClone(delta) as Json)
  return message
}

/** Adds an item to a list. Fragments of a thought, of which the last has the signature, are one. */
function addTo(list: Json[], item: Json): void {
  const last = list.at(-1)
  if (!last || last['signature'] || last['type'] !== item['type'] || !/thinking$|text$/.test(item['type'] as string)) {
    list.push(item)
    return
  }
  for (const [name, value] of Object.entries(item))
    last[name] =
      name === 'thinking' || name === 'text' ? `${(last[name] as string | undefined) ?? ''}${value as string}` : value
}

/** Adds a delta: texts and lists grow, and calls with an index that is there already are one. */
function join(message: Json, delta: Json): void {
  for (const [name, value] of Object.entries(delta)) {
    const had = message[name]
    if (name === 'tool_calls') {
      const calls = (message[name] ??= []) as Json[]
      for (const { index, ...part } of (value ?? []) as Json[])
        if (calls[index as number]) join(calls[index as number]!, part)
        else calls[index as number] = part
    } else if (name === 'function') join(had as Json, value as Json)
    else if (Array.isArray(had) && Array.isArray(value)) for (const item of value as Json[]) addTo(had as Json[], item)
    else if ((name === 'content' || name === 'arguments' || name === 'reasoning_content') && typeof had === 'string')
      message[name] = had + ((value as string | null) ?? '')
    else message[name] = value ?? had
  }
}

/** The usage of an answer: that of its last chunk which has one. */
export function usageIn({ stream, json }: Passed): Json {
  const usage = stream ? stream.chunks.findLast((chunk) => chunk.usage)?.usage : (json?.['usage'] as Json | undefined)
  if (!usage) throw new Error('the usage: expected token counts, got none')
  return usage
}

/** What the upstream was asked, by the only request that it accepted. */
export function askedBy({ sent }: Passed): Sent['asked'] {
  const [first] = sent
  if (!first) throw new Error('the upstream: expected a request, got none')
  return first.asked
}

/** Checks an error in OpenAI's form with one of `statuses`. */
export function expectError({ status, json, text }: Passed, what: string, statuses: (status: number) => boolean): void {
  expectThat('the status', statuses(status), what, status === 0 ? 'a broken connection' : status)
  const error = json?.['error'] as Json | undefined
  expectThat(
    'the body',
    typeof error?.['message'] === 'string' && error['message'] !== '',
    'an object `error` with a `message`',
    json ?? text,
  )
}

/** Checks that a stream which the upstream did not complete is not completed for the client either, and that the client learns of it. */
export function expectBroken(passed: Passed): void {
  const { stream, broken, status, text } = passed
  if (!stream) return expectError(passed, '429 or 5xx', (it) => it === 429 || it >= 500)
  expectEqual('the status', status, 200)
  expectThat('the end', stream.done === 0, 'no [DONE]', text.slice(-80))
  expectThat('the end', stream.errors.length > 0 || broken, 'an event with an `error`', text.slice(-80))
}
