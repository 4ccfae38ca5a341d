/** The calls of a conversation that have no result yet. */
export interface OpenCalls<Call> {
  add(id: string, call: Call): void
  /** The call that a result with this id answers; undefined where none waits for it. */
  answer(id: string): Call | undefined
}

/** Ids are not always unique: some servers give all calls of an answer the same, such as an empty one. Results come in the order of such calls. */
export function openCalls<Call>(): OpenCalls<Call> {
  const open = new Map<string, Call[]>()
  return {
    add: (id, call) => void open.set(id, [...(open.get(id) ?? []), call]),
    answer: (id) => open.get(id)?.shift(),
  }
}
