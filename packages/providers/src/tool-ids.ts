/**
 * The id of a tool call in letters that every family takes, other than those in `taken`, to which it is added.
 * Ids travel from one family's histories to another's: what the family does not take becomes `_`, the rest is cut at 40 characters,
 * the most that OpenAI takes, and an id that is used again gets a number. The same conversation gives the same ids each time.
 */
export function toolId(id: string, taken: Set<string>): string {
  const plain = id.replace(/[^a-zA-Z0-9_-]/g, '_').slice(0, 40) || 'call'
  let unique = plain
  for (let n = 2; taken.has(unique); n++) unique = `${plain.slice(0, 34)}_${n}`
  taken.add(unique)
  return unique
}
