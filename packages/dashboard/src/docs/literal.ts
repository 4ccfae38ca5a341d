/** Characters of a line of code, which fit beside the description. */
const WIDTH = 64

/** The key of what is code already. */
const source = Symbol('source')

/** An expression as it is written. */
export const code = (text: string): { [source]: string } => ({ [source]: text })

const word = /^[A-Za-z_$][\w$]*$/

function quoted(text: string): string {
  const escaped = JSON.stringify(text).slice(1, -1).replaceAll('\\"', '"').replaceAll("'", "\\'")
  return `'${escaped}'`
}

function property(name: string, value: string): string {
  if (name === value) return name
  return `${word.test(name) ? name : quoted(name)}: ${value}`
}

/**
 * A JSON value as TypeScript, in one line where that is short enough. Properties that are undefined are left out.
 * @param indent that of the line it stands in
 * @param used characters of that line beside it
 */
export function literal(value: unknown, indent = '', used = indent.length): string {
  if (typeof value === 'string') return quoted(value)
  if (typeof value !== 'object' || value === null) return String(JSON.stringify(value))
  if (source in value) return value[source] as string
  const isArray = Array.isArray(value)
  const parts = (at: string): string[] =>
    isArray
      ? value.map((item) => literal(item, at))
      : Object.entries(value)
          .filter(([, item]) => item !== undefined)
          .map(([name, item]) => property(name, literal(item, at, at.length + name.length + 3)))
  const [open, close, space] = isArray ? ['[', ']', ''] : ['{', '}', ' ']
  const flat = parts(indent)
  if (flat.length === 0) return open + close
  const line = `${open}${space}${flat.join(', ')}${space}${close}`
  if (line.length + used <= WIDTH && !line.includes('\n')) return line
  const deeper = `${indent}  `
  const lines = parts(deeper).map((part) => `${deeper}${part},\n`)
  return `${open}\n${lines.join('')}${indent}${close}`
}

/** A call: its last argument is broken into lines where it is too long. An object without properties is left out. */
export function call(begin: string, ...values: unknown[]): string {
  const given = values.filter((value) => literal(value) !== '{}')
  const before = given.slice(0, -1).map((value) => `${literal(value)}, `)
  const line = `${begin}(${before.join('')}`
  return `${line}${given.length > 0 ? literal(given.at(-1), '', line.length + 1) : ''})`
}
