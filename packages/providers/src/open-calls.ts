/** The tool calls of a conversation that have no result yet. */
export interface OpenCalls<Call> {
  add(id: string, call: Call): void
  /** Removes and returns the call that a result with this id belongs to; undefined if there is none. */
  answer(id: string): Call | undefined
}

/** Ids are not always unique: some servers give all calls of an answer the same or an empty id. Results of such calls are matched in order. */
export function openCalls<Call>(): OpenCalls<Call> {
  const open = new Map<string, Call[]>()
  return {
    add: (id, call) => void open.set(id, [...(open.get(id) ?? []), call]),
    answer: (id) => open.get(id)?.shift(),
  }
}
