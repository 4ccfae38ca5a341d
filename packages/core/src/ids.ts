const pool = new Uint8Array(4096)
let used = pool.length

const hex = Array.from({ length: 256 }, (_, byte) => byte.toString(16).padStart(2, '0'))

/**
 * A UUIDv7: 48 bits of `now` (milliseconds), the rest random, so that ids sort by their time of creation.
 * @see RFC 9562, section 5.7
 */
export function uuidv7(now: number = Date.now()): string {
  if (used + 10 > pool.length) {
    crypto.getRandomValues(pool)
    used = 0
  }
  const time = now.toString(16).padStart(12, '0')
  const at = used
  used += 10
  const h = (i: number): string => hex[pool[at + i]!]!
  return `${time.slice(0, 8)}-${time.slice(8)}-7${h(0).slice(1)}${h(1)}-${hex[(pool[at + 2]! & 0x3f) | 0x80]!}${h(3)}-${h(4)}${h(5)}${h(6)}${h(7)}${h(8)}${h(9)}`
}

/** Whether `value` is a UUID of any version, in the usual 36 characters. */
export const isUuid = (value: string): boolean =>
  /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i.test(value)
