import { inShell } from '@turnpike/ui/in-shell'
import type { Operation } from './document.js'
import { answerTypes, fillPath, isStream, resolve, tokenOf, upper } from './document.js'
import { bodyOf, isFile } from './example.js'

/** The parts of a form, its files last. */
function formParts(operation: Operation, example: object, schema: object): string[] {
  const { properties = {} } = resolve(operation.api, schema)
  const files = Object.keys(properties).filter((name) => isFile(properties[name]!))
  const texts = Object.entries(example).filter(([name]) => !files.includes(name))
  return [...texts.map(([name, value]) => `${name}=${value}`), ...files.map((name) => `${name}=@example.bin`)]
}

function bodyFlags(operation: Operation): string[] {
  const body = bodyOf(operation)
  if (!body) return []
  const { mediaType, example, schema } = body
  if (mediaType.startsWith('multipart/'))
    return formParts(operation, example as object, schema).map((part) => `-F ${inShell(part)}`)
  return [`-H ${inShell(`Content-Type: ${mediaType}`)}`, `-d ${inShell(JSON.stringify(example))}`]
}

/** A command for a shell. Parameters and the token are variables of the environment. */
export function curl(operation: Operation, base: string): string {
  const { method } = operation
  const types = answerTypes(operation)
  const token = tokenOf(operation)
  const url = fillPath(operation, {
    text: (text) => text.replaceAll(/["\\$`]/g, '\\$&'),
    value: (name) => `$${upper(name)}`,
  })
  const body = bodyFlags(operation)
  const isText = types.length === 0 || types.some((type) => /json|text/.test(type))
  return [
    [
      'curl',
      ...(types.length > 0 && types.every(isStream) ? ['-N'] : []),
      ...(method === (body.length > 0 ? 'POST' : 'GET') ? [] : [`-X ${method}`]),
      `"${base}${url}"`,
    ].join(' '),
    ...(token === undefined ? [] : [`-H "Authorization: Bearer $${token}"`]),
    ...body,
    ...(isText ? [] : ['-o answer']),
  ].join(' \\\n  ')
}
