/** Characters of all texts in a JSON value. */
export function charactersOf(value: unknown): number {
  if (typeof value === 'string') return value.length
  if (typeof value !== 'object' || value === null) return 0
  let characters = 0
  for (const part of Object.values(value)) characters += charactersOf(part)
  return characters
}
