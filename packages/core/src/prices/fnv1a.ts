const PRIME = 0x100000001b3n

/**
 * FNV-1a of a text in 64 bits, as 16 hexadecimal digits. Tells tables apart, keeps nothing secret; unlike {@link sha256} it is there at
 * once on every runtime.
 */
export function fnv1a(text: string): string {
  let hash = 0xcbf29ce484222325n
  for (const byte of new TextEncoder().encode(text)) hash = BigInt.asUintN(64, (hash ^ BigInt(byte)) * PRIME)
  return hash.toString(16).padStart(16, '0')
}
