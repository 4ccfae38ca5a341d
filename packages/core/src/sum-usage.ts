import { extend } from './helpers/extend.js'
import type { Usage } from './schemas/chat.js'

/** Sums all counts, including those of the details. Of texts, such as a service tier, the first one is kept. */
function addUsage(a: Usage, b: Usage): Usage {
  const sum: Record<string, unknown> = extend(a, {})
  for (const [key, value] of Object.entries(b)) {
    const before = sum[key]
    if (typeof value === 'number') sum[key] = (typeof before === 'number' ? before : 0) + value
    else if (typeof value === 'string') sum[key] = before ?? value
    else if (typeof value === 'object' && value !== null) sum[key] = addUsage((before ?? {}) as Usage, value as Usage)
  }
  return sum as Usage
}

/** The sum of all reports; undefined where one is missing, because the sum would be too small, and where there is none. */
export const sumUsage = (all: (Usage | undefined)[]): Usage | undefined =>
  all.length === 0 ? undefined : all.reduce((sum, usage) => (sum && usage ? addUsage(sum, usage) : undefined))
