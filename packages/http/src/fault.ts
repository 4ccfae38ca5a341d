import type { BaseIssue } from 'valibot'

/** What the type of an issue expects, in words. */
const expectations: Record<string, string> = {
  string: 'a string',
  number: 'a number',
  boolean: 'true or false',
  array: 'an array',
  object: 'an object',
  loose_object: 'an object',
  strict_object: 'an object',
  record: 'an object',
  integer: 'a whole number',
  safe_integer: 'a whole number',
  uuid: 'a UUID',
  url: 'a URL',
  iso_timestamp: 'a time such as "2026-01-31T12:00:00Z"',
  hex_color: 'a colour such as "#1a2b3c"',
}

/** Characters of a wrong value that are repeated at most. */
const VALUE = 60

/** The value that was given, as the end of a sentence; '' where it says no more. */
function given(received: string): string {
  const value = received === 'Array' ? 'an array' : received === 'Object' ? 'an object' : received
  return value === 'undefined' || value.length > VALUE ? '' : `, not ${value}`
}

/** What a field has to be of a list of literals: `("a" | "b")`. */
function oneOf(expected: string): string {
  const values = expected
    .replace(/[()]/g, '')
    .split(' | ')
    .map((value) => (value === 'Object' ? 'an object' : value === 'Array' ? 'an array' : value))
  return values.length > 1 ? `one of ${values.join(', ')}` : values[0]!
}

/** What is wrong with a field, as the rest of a sentence that begins with its name: `must be at most 2, not 3`. */
export function faultOf({ type, kind, expected, received, requirement, input, message }: BaseIssue<unknown>): string {
  if (expected === 'never') return 'is not known'
  if (kind === 'schema' && received === 'undefined') return 'is missing'
  // A message of ours, which says what was expected.
  if (!message.startsWith('Invalid ')) return message.replace(/^expected/i, 'must be')
  const count = String(requirement)
  const units = Array.isArray(input) ? 'entries' : 'characters'
  switch (type) {
    case 'min_length':
    case 'non_empty':
      return type === 'non_empty' || count === '1' ? 'must not be empty' : `must have at least ${count} ${units}`
    case 'max_length':
      return `must have at most ${count} ${units}`
    case 'min_value':
      return `must be at least ${count}${given(received)}`
    case 'max_value':
      return `must be at most ${count}${given(received)}`
    case 'regex':
      return `must match ${count}`
    default:
      return `must be ${expectations[type] ?? oneOf(expected ?? 'something else')}${given(received)}`
  }
}
