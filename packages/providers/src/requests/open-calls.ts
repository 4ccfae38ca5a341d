/** The tool calls of a conversation that have no result yet. */
export interface OpenCalls<Call> {
  add(id: string, call: Call): void
  /** Removes and returns the call that a result with this id belongs to; undefined if there is none. */
  answer(id: string): Call | undefined
}

/** Ids are not always unique: some servers give all calls of an answer the same or an empty id. Results of such calls are matched in order. */
export function openCalls<Call>(): OpenCalls<Call> {
  /** The calls by id, and how many of them have their result: `shift` would move the rest of a long list each time. */
  const open = new Map<string, { calls: Call[]; answered: number }>()
  return {
    add(id, call) {
      const same = open.get(id)
      if (same) same.calls.push(call)
      else open.set(id, { calls: [call], answered: 0 })
    },
    answer(id) {
      const same = open.get(id)
      return same && same.answered < same.calls.length ? same.calls[same.answered++] : undefined
    },
  }
}
