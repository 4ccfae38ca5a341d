import { inShell } from '@turnpike/ui/in-shell'
import type { Body } from './request.js'

export const languages = [
  ['bash', 'curl'],
  ['typescript', 'TypeScript'],
  ['python', 'Python'],
] as const

export type Language = (typeof languages)[number][0]

/** Most characters of a `data:` URL that are shown. */
const MOST_SHOWN = 48

/** The code with its pictures cut short, to be read. */
export const readable = (code: string): string =>
  code.replaceAll(/data:[\w/+.-]+;base64,[\w+/=]+/g, (url) =>
    url.length > MOST_SHOWN ? `${url.slice(0, MOST_SHOWN)}…` : url,
  )

/** JSON as JavaScript: names without quotes. A line that has a quoted name has it at its beginning, as strings have no line breaks. */
const inJavaScript = (value: unknown): string =>
  JSON.stringify(value, null, 2).replaceAll(/^( *)"([A-Za-z_]\w*)":/gm, '$1$2:')

/** JSON as Python, whose strings are the same. */
function inPython(value: unknown, margin = ''): string {
  if (value === true) return 'True'
  if (value === false) return 'False'
  if (value === null) return 'None'
  if (typeof value !== 'object') return JSON.stringify(value)
  const inner = `${margin}    `
  const [open, close] = Array.isArray(value) ? '[]' : '{}'
  const items = Array.isArray(value)
    ? value.map((item) => inPython(item, inner))
    : Object.entries(value).map(([name, item]) => `${JSON.stringify(name)}: ${inPython(item, inner)}`)
  return items.length === 0
    ? open! + close!
    : `${open}\n${items.map((item) => `${inner}${item},\n`).join('')}${margin}${close}`
}

const curl = (body: Body, baseURL: string): string =>
  [
    `curl ${body.stream ? '-N ' : ''}${inShell(`${baseURL}/chat/completions`)}`,
    '-H "Authorization: Bearer $GATEWAY_KEY"',
    "-H 'Content-Type: application/json'",
    `-d ${inShell(JSON.stringify(body, null, 2))}`,
  ].join(' \\\n  ')

function typescript(body: Body, baseURL: string): string {
  const { provider, ...known } = body
  // The types of the package do not have it, which they say of fields that are written out.
  const own = provider === undefined ? '' : `\n  ...{ provider: ${JSON.stringify(provider)} },`
  return `import OpenAI from 'openai'

const client = new OpenAI({
  baseURL: ${JSON.stringify(baseURL)},
  apiKey: process.env.GATEWAY_KEY,
})

const ${body.stream ? 'stream' : 'answer'} = await client.chat.completions.create(${inJavaScript(known).replace('{', `{${own}`)})
${
  body.stream
    ? "for await (const chunk of stream) process.stdout.write(chunk.choices[0]?.delta.content ?? '')"
    : 'console.log(answer.choices[0]?.message.content)'
}
`
}

function python(body: Body, baseURL: string): string {
  const { provider, ...known } = body
  const fields = Object.entries(known).map(([name, value]) => `    ${name}=${inPython(value, '    ')},\n`)
  const own = provider === undefined ? '' : `    extra_body={"provider": ${JSON.stringify(provider)}},\n`
  return `import os
from openai import OpenAI

client = OpenAI(
    base_url=${JSON.stringify(baseURL)},
    api_key=os.environ["GATEWAY_KEY"],
)

${body.stream ? 'stream' : 'answer'} = client.chat.completions.create(
${fields.join('')}${own})
${
  body.stream
    ? 'for chunk in stream:\n    if chunk.choices:\n        print(chunk.choices[0].delta.content or "", end="", flush=True)'
    : 'print(answer.choices[0].message.content)'
}
`
}

const writers = { bash: curl, typescript, python }

/** A program that sends a request with a gateway key. @param baseURL of the gateway, with `/v1` */
export const codeOf = (language: Language, body: Body, baseURL: string): string => writers[language](body, baseURL)
