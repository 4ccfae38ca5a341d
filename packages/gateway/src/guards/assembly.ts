import type { ChatCompletion, ChunkChoice, ChunkHead, Usage } from '@turnpike/core'
import { isObject } from '@turnpike/core/helpers'

type Fields = Record<string, unknown>

/** Strings that come whole in one chunk, and not by pieces. */
const wholeAtOnce = /^(role|type|id|name|format|url|.*_id|.*signature)$/

/** Adds a delta to what came before: texts are joined, entries of lists too where they have the same `index`. */
function merge(into: Fields, delta: Fields): void {
  for (const [field, more] of Object.entries(delta)) {
    if (field === '__proto__') continue
    const before = Object.hasOwn(into, field) ? into[field] : undefined
    if (typeof more === 'string' && typeof before === 'string' && !wholeAtOnce.test(field)) into[field] = before + more
    else if (Array.isArray(more)) into[field] = joined(Array.isArray(before) ? before : [], more)
    else if (isObject(more) && isObject(before)) merge(before, more)
    else if (more !== null || before === undefined) into[field] = structuredClone(more)
  }
}

/** The entries of lists by their `index`: an answer may have thousands, and a list is not searched for each of its pieces. */
const entries = new WeakMap<unknown[], Map<number, Fields>>()

const keep = (known: Map<number, Fields>, item: unknown): void => {
  if (isObject(item) && typeof item['index'] === 'number') known.set(item['index'], item)
}

function entriesOf(list: unknown[]): Map<number, Fields> {
  let known = entries.get(list)
  if (!known) {
    entries.set(list, (known = new Map()))
    for (const item of list) keep(known, item)
  }
  return known
}

function joined(before: unknown[], more: unknown[]): unknown[] {
  const known = entriesOf(before)
  for (const item of more) {
    const same = isObject(item) && typeof item['index'] === 'number' ? known.get(item['index']) : undefined
    if (same) merge(same, item as Fields)
    else {
      const made: unknown = structuredClone(item)
      before.push(made)
      keep(known, made)
    }
  }
  return before
}

/** Puts the whole answer together from the chunks of a stream. */
export interface Assembly {
  add(choice: ChunkChoice): void
  answer(head: ChunkHead, usage: Usage): ChatCompletion
}

export function assembly(): Assembly {
  const choices = new Map<number, Fields & { message: Fields }>()
  return {
    add({ index, delta, logprobs, ...fields }) {
      const choice = choices.get(index) ?? { index, message: { role: 'assistant', content: null } }
      choices.set(index, choice)
      merge(choice.message, delta)
      if (isObject(logprobs)) merge(choice, { logprobs })
      Object.assign(choice, fields)
    },
    answer: (head, usage) => ({
      ...head,
      object: 'chat.completion',
      choices: [...choices.values()].map((choice) => {
        const { message } = choice
        const calls = message['tool_calls']
        if (!Array.isArray(calls)) return choice
        // The index of a call is only for its pieces. Content is null beside calls, not empty.
        const tool_calls = calls.map((call: Fields) => {
          const { index: _, ...rest } = call
          return rest
        })
        return { ...choice, message: { ...message, content: message['content'] || null, tool_calls } }
      }) as ChatCompletion['choices'],
      usage,
    }),
  }
}

/** The chunks of a whole answer: one with all of each choice, and one with its finish reason. */
export const chunksOf = ({ choices }: ChatCompletion): ChunkChoice[] =>
  choices.flatMap(({ index, message, finish_reason, ...fields }) => {
    const { tool_calls, ...rest } = message
    const calls = tool_calls?.map((call, at) => ({ ...call, index: at }))
    const delta = { ...rest, ...(calls && { tool_calls: calls }) }
    return [
      { ...fields, index, delta, finish_reason: null },
      { index, delta: {}, finish_reason },
    ]
  })
