/** The weight of each media range of an Accept header, by the range in lower case (RFC 9110, section 12.5.1). */
function weightsOf(accept: string): Map<string, number> {
  return new Map(
    accept.split(',').map((part) => {
      const [range = '', ...parameters] = part.split(';').map((text) => text.trim().toLowerCase())
      const weight = parameters.find((parameter) => parameter.startsWith('q='))
      return [range, weight === undefined ? 1 : Number(weight.slice(2))]
    }),
  )
}

/**
 * Whether an Accept header names a media type, and prefers no `other` one. Ranges such as `text/*` do not name it, but count for `other`.
 * @param type in lower case, as `other`
 * @example asksFor('text/html, application/json;q=0.8', 'text/html', 'application/json') // true
 */
export function asksFor(accept: string | undefined, type: string, other: string): boolean {
  const weights = weightsOf(accept ?? '')
  const weight = weights.get(type) ?? 0
  const least = weights.get(other) ?? weights.get(`${other.split('/')[0]}/*`) ?? weights.get('*/*') ?? 0
  return weight > 0 && weight >= least
}
