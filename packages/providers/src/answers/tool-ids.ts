/** Longest id, which is OpenAI's maximum, and what is left of an id that gets a number. */
const LENGTH = 40
const NUMBERED = 34

/** Converts the ids of one conversation's tool calls, in order. */
export type ToolIds = (id: string) => string

/**
 * Makes ids of tool calls that all families accept and that are unique.
 * Histories move between families with different rules: invalid characters become `_`, ids are cut at 40 characters, and duplicates get a
 * number. Deterministic: the same conversation gives the same ids.
 */
export function toolIds(): ToolIds {
  const taken = new Set<string>()
  /** The next number for each beginning of an id. Starting again at 2 for each duplicate would take quadratic time. */
  const next = new Map<string, number>()
  return (id) => {
    const plain = id.slice(0, LENGTH).replace(/[^a-zA-Z0-9_-]/g, '_') || 'call'
    let unique = plain
    if (taken.has(plain)) {
      const beginning = plain.slice(0, NUMBERED)
      let number = next.get(beginning) ?? 2
      do unique = `${beginning}_${number++}`
      while (taken.has(unique))
      next.set(beginning, number)
    }
    taken.add(unique)
    return unique
  }
}
