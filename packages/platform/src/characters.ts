/** Control characters, which are six in JSON, count as such. */
function inJson(text: string): number {
  let characters = text.length
  for (let i = 0; i < text.length; i++) if (text.charCodeAt(i) < 32) characters += 5
  return characters
}

/** Characters of all texts in a JSON value, as they are in JSON. */
export function charactersOf(value: unknown): number {
  if (typeof value === 'string') return inJson(value)
  if (typeof value !== 'object' || value === null) return 0
  let characters = 0
  for (const part of Object.values(value)) characters += charactersOf(part)
  return characters
}
