const POOL_BYTES = 4096
const hex = Array.from({ length: 256 }, (_, byte) => byte.toString(16).padStart(2, '0'))

/** Random hexadecimal digits, generated in bulk, and the number of digits that are used up. */
let pool = ''
let used = 0

function random(digits: number): string {
  if (used + digits > pool.length) {
    const bytes = crypto.getRandomValues(new Uint8Array(POOL_BYTES))
    pool = Array.from({ length: POOL_BYTES }, (_, i) => hex[bytes[i]!]).join('')
    used = 0
  }
  used += digits
  return pool.slice(used - digits, used)
}

let lastTime = NaN
let prefix = ''
let counter = 0

/**
 * Creates a UUIDv7: 48 bits of `now` (milliseconds), a counter of 12 bits that starts at a random value in each millisecond, and random
 * bits. The ids of one process sort in the order of their creation.
 * @see RFC 9562, sections 5.7 and 6.2
 */
export function uuidv7(now: number = Date.now()): string {
  if (now === lastTime) counter++
  else {
    const time = now.toString(16).padStart(12, '0')
    prefix = `${time.slice(0, 8)}-${time.slice(8)}-7`
    lastTime = now
    // Starts in the lower half of the counter's range, so that at least the upper half is left for counting.
    counter = parseInt(random(3), 16) >> 1
  }
  const count = (counter & 0xfff).toString(16).padStart(3, '0')
  const variant = '89ab'[parseInt(random(1), 16) & 3]!
  return `${prefix}${count}-${variant}${random(3)}-${random(12)}`
}

/** The timestamp of a UUIDv7, in milliseconds. */
export const timeOf = (id: string): number => parseInt(id.slice(0, 8) + id.slice(9, 13), 16)

/** Whether `value` is a UUID of any version, in the usual 36 characters. */
export const isUuid = (value: string): boolean =>
  /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i.test(value)
