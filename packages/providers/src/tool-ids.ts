/**
 * Converts the id of a tool call to one that all families accept and that is not in `taken`, and adds it there.
 * Histories move between families with different rules: invalid characters become `_`, ids are cut at 40 characters (OpenAI's maximum),
 * and duplicates get a number. Deterministic: the same conversation gives the same ids.
 */
export function toolId(id: string, taken: Set<string>): string {
  const plain = id.replace(/[^a-zA-Z0-9_-]/g, '_').slice(0, 40) || 'call'
  let unique = plain
  for (let n = 2; taken.has(unique); n++) unique = `${plain.slice(0, 34)}_${n}`
  taken.add(unique)
  return unique
}
