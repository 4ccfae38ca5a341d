/** `retry-after-ms` of OpenAI, else `retry-after` in seconds or as a date; whole seconds, rounded up. */
export function retryAfter(header: (name: string) => string | undefined, now: number = Date.now()): number | undefined {
  const ms = Number(header('retry-after-ms'))
  if (ms >= 0) return Math.ceil(ms / 1000)
  const text = header('retry-after')
  if (text === undefined) return undefined
  const seconds = isNaN(Number(text)) ? (Date.parse(text) - now) / 1000 : Number(text)
  return seconds >= 0 && seconds < Infinity ? Math.ceil(seconds) : undefined
}
