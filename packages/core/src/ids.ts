const pool = new Uint8Array(4096)
let used = pool.length

const hex = Array.from({ length: 256 }, (_, byte) => byte.toString(16).padStart(2, '0'))

let lastTime = NaN
let prefix = ''
let counter = 0

/**
 * A UUIDv7: 48 bits of `now` (milliseconds), a counter of 12 bits that begins anew at random in each millisecond, the rest random.
 * So ids of one process sort in the order in which they were made.
 * @see RFC 9562, sections 5.7 and 6.2
 */
export function uuidv7(now: number = Date.now()): string {
  if (used + 10 > pool.length) {
    crypto.getRandomValues(pool)
    used = 0
  }
  const at = used
  used += 10
  if (now === lastTime) counter++
  else {
    const time = now.toString(16).padStart(12, '0')
    prefix = `${time.slice(0, 8)}-${time.slice(8)}-7`
    lastTime = now
    // Half of the counter's range is left to count in.
    counter = ((pool[at]! & 0x07) << 8) | pool[at + 1]!
  }
  const h = (i: number): string => hex[pool[at + i]!]!
  const count = (counter & 0xfff).toString(16).padStart(3, '0')
  return `${prefix}${count}-${hex[(pool[at + 2]! & 0x3f) | 0x80]!}${h(3)}-${h(4)}${h(5)}${h(6)}${h(7)}${h(8)}${h(9)}`
}

/** Whether `value` is a UUID of any version, in the usual 36 characters. */
export const isUuid = (value: string): boolean =>
  /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i.test(value)
