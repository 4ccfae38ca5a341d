/** Spelling: which name was meant. @module */

/** How many characters must be added, removed or replaced to make one text of another. */
function distance(one: string, other: string): number {
  let row = Array.from({ length: other.length + 1 }, (_, i) => i)
  for (const [i, character] of [...one].entries()) {
    const next = [i + 1]
    for (let j = 0; j < other.length; j++)
      next.push(Math.min(row[j + 1]! + 1, next[j]! + 1, row[j]! + Number(character !== other[j])))
    row = next
  }
  return row[other.length]!
}

const plain = (name: string): string => name.toLowerCase().replace(/[^a-z\d]/g, '')

/** The name that was probably meant: it differs in case and separators, or in two characters of four or more. Undefined where none is near. */
export function nearest(given: string, names: readonly string[]): string | undefined {
  const most = Math.min(2, Math.floor(plain(given).length / 2))
  const [best] = names
    .map((name) => ({ name, far: distance(plain(given), plain(name)) }))
    .toSorted((a, b) => a.far - b.far)
  return best && best.far <= most ? best.name : undefined
}
