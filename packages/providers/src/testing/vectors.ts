/** FNV-1a hash of the UTF-16 units of a text. */
export function hash(text: string): number {
  let value = 0x811c9dc5
  for (let i = 0; i < text.length; i++) value = Math.imul(value ^ text.charCodeAt(i), 0x01000193)
  return value >>> 0
}

/** Deterministic numbers between -1 and 1 for a text. A shorter list is a prefix of a longer one. */
export function vectorOf(text: string, length: number): number[] {
  let state = hash(text)
  return Array.from({ length }, () => {
    // mulberry32, a small seeded generator.
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 31 - 1
  })
}

/** Scales a vector to length 1 and rounds to 32-bit floats, as vendors do. */
export function toUnit(vector: number[]): number[] {
  const norm = Math.sqrt(vector.reduce((sum, value) => sum + value * value, 0))
  return vector.map((value) => Math.fround(value / norm))
}
