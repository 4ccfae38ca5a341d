import type {
  ChatDelta,
  ChunkChoice,
  ChunkHead,
  Completion,
  FinishReason,
  ToolCall,
  ToolCallDelta,
  Usage,
} from '@turnpike/core'
import { extend } from '@turnpike/core/helpers'

type Loose = Record<string, unknown>

/**
 * Appends texts and lists, merges objects, such as those of log probabilities, and replaces anything else.
 * @param whole whose lists and objects are its own, and never those of `more`
 */
function append(whole: Loose, more: object): Loose {
  for (const [field, value] of Object.entries(more)) {
    // It would be the prototype of all objects.
    if (field === '__proto__') continue
    const before = whole[field]
    if (typeof before === 'string' && typeof value === 'string') whole[field] = before + value
    else if (Array.isArray(value)) {
      const list: unknown[] = (whole[field] = Array.isArray(before) ? before : [])
      // One at a time: as arguments, a long list would overflow the stack.
      for (const one of value) list.push(one)
    } else if (isMerged(value)) whole[field] = append(isMerged(before) ? before : {}, value)
    else if (value !== null && value !== undefined) whole[field] = value
    else whole[field] ??= value
  }
  return whole
}

const isMerged = (value: unknown): value is Loose =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** Adds an entry of a delta to the tool calls: all but the first of a call have only more of its input. */
function addCall(calls: Map<number, Loose>, { index, ...entry }: ToolCallDelta): void {
  const call = calls.get(index)
  if (call) append(call, entry)
  else calls.set(index, append({}, entry))
}

/** Joins the choices of a stream, as a decoder gives them, to a whole answer. */
export function joined() {
  const whole = new Map<number, Loose & { message: Loose; calls: Map<number, Loose> }>()
  return {
    add(choices: ChunkChoice[]): void {
      for (const { index, delta, finish_reason, ...extra } of choices) {
        let choice = whole.get(index)
        if (!choice) whole.set(index, (choice = { message: {}, calls: new Map() }))
        const { role: _, tool_calls = [], ...more } = delta as ChatDelta
        append(choice.message, more)
        for (const entry of tool_calls) addCall(choice.calls, entry)
        append(choice, extra)
        if (finish_reason) choice['finish_reason'] = finish_reason
      }
    },
    end(head: ChunkHead, usage: Usage | undefined): Completion {
      const choices = [...whole]
        .toSorted(([one], [other]) => one - other)
        .map(([index, { message, calls, ...extra }]) => {
          const content = (message['content'] as string | null | undefined) || (calls.size > 0 ? null : '')
          const said = { ...message, role: 'assistant' as const, content }
          return extend(extra as { finish_reason: FinishReason }, {
            index,
            message: calls.size > 0 ? { ...said, tool_calls: [...calls.values()] as ToolCall[] } : said,
          })
        })
      return extend(head, { object: 'chat.completion' as const, choices, usage })
    },
  }
}
