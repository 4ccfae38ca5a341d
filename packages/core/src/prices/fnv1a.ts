const PRIME = 0x100000001b3n

/**
 * 64-bit FNV-1a hash of a text, as 16 hexadecimal digits. Not cryptographic: it only distinguishes price tables. Unlike {@link sha256},
 * it is synchronous on all runtimes.
 */
export function fnv1a(text: string): string {
  let hash = 0xcbf29ce484222325n
  for (const byte of new TextEncoder().encode(text)) hash = BigInt.asUintN(64, (hash ^ BigInt(byte)) * PRIME)
  return hash.toString(16).padStart(16, '0')
}
