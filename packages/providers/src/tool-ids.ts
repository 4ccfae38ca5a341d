/** OpenAI refuses longer ids in a history. */
const MOST = 40

/** The ids of a conversation's tool calls, in letters that every family takes. */
export interface ToolIds {
  /** The id of a call, unique in the conversation. */
  call(id: string): string
  /** The id of the latest call that the caller knows by `id`; undefined where there is none. */
  result(id: string): string | undefined
}

/**
 * Ids travel from one family's histories to another's: what the family does not take becomes `_`, the rest is cut at 40 characters,
 * and an id that is used again gets a number. The same conversation gives the same ids each time.
 */
export function toolIds(): ToolIds {
  const latest = new Map<string, string>()
  const taken = new Set<string>()
  return {
    call(id) {
      const plain = id.replace(/[^a-zA-Z0-9_-]/g, '_').slice(0, MOST) || 'call'
      let unique = plain
      for (let n = 2; taken.has(unique); n++) unique = `${plain.slice(0, MOST - 1 - String(n).length)}_${n}`
      taken.add(unique)
      latest.set(id, unique)
      return unique
    },
    result: (id) => latest.get(id),
  }
}
