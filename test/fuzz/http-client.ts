/** Sends a request to the byte, and judges the answer. */
import type { IncomingMessage } from 'node:http'
import { Agent, request } from 'node:http'
import type { Contract } from '../support/contract.js'
import { field, filePart, formBytes, formType } from '../support/forms.js'
import type { Body, Plan } from './arbitrary-http.js'
import type { Known } from './arbitrary-json.js'
import { Binary, changed, jsonOf, Known as KnownValue } from './arbitrary-json.js'
import type { Text } from './http-junk.js'
import type { People } from './http-people.js'

/** A request as it is sent. */
export interface Wire {
  method: string
  /** With its query. */
  path: string
  headers: [string, string][]
  body: Buffer | undefined
  chunked: boolean
}

export interface Answer {
  status: number
  headers: IncomingMessage['headers']
  body: string
  /** False where the answer broke off, or was a stream that nobody waits for any longer. */
  whole: boolean
}

/** A form with a part for each field of an object. */
function formOf(value: unknown, lookUp: (known: Known) => unknown): Buffer {
  const fields = typeof value === 'object' && value !== null ? Object.entries(value) : []
  const parts = fields.map(([name, part]: [string, unknown]) => {
    const title = name.replaceAll(/["\r\n]/g, encodeURIComponent)
    if (part instanceof Binary) return filePart(part.bytes, 'fuzz.mp3', 'audio/mpeg', title)
    const text = part instanceof KnownValue ? lookUp(part) : part
    return field(title, typeof text === 'string' ? text : jsonOf(text, lookUp))
  })
  return formBytes(parts)
}

function bytesOf(body: Body, lookUp: (known: Known) => unknown): Buffer {
  if ('bytes' in body) return Buffer.from(body.bytes)
  const value = changed(body.value, body.changes)
  const bytes = body.type === 'multipart/form-data' ? formOf(value, lookUp) : Buffer.from(jsonOf(value, lookUp))
  return body.cut === null ? bytes : bytes.subarray(0, body.cut)
}

/** As a header may have it. */
const headerValue = (text: string): string =>
  Buffer.from(text)
    .toString('latin1')
    .replaceAll(/[^\t\x20-\x7e\x80-\xff]/g, '')

/** The request of a plan. */
export function wireOf(plan: Plan, people: People): Wire {
  const lookUp = (known: Known): unknown => people.lookUp(plan, known)
  const look = (text: Text): string => (typeof text === 'string' ? text : String(lookUp(text)))
  const segment = (text: Text): string => (typeof text === 'string' ? text : encodeURIComponent(look(text)))
  const { operation, method, params, suffix, query, headers, body, chunked } = plan
  const path = operation.path.replaceAll(/\{(\w+)\}/g, (_, name: string) => segment(params[name]!)) + suffix
  const pairs = query.map(([name, value]) => `${encodeURIComponent(name)}=${encodeURIComponent(look(value))}`)
  const type = body && 'cut' in body && body.type === 'multipart/form-data' ? formType() : body?.type
  return {
    method,
    path: pairs.length > 0 ? `${path}?${pairs.join('&')}` : path,
    headers: [
      ...people.credential(plan),
      ...headers.map(([name, value]): [string, string] => [name, headerValue(look(value))]),
      ...(type ? [['content-type', type] as [string, string]] : []),
    ],
    body: body ? bytesOf(body, lookUp) : undefined,
    chunked,
  }
}

/** Whether the request is what the document tells of, as far as that can be told before it is answered. */
export const isMeant = ({ operation, method, suffix }: Plan): boolean => method === operation.method && suffix === ''

/** Milliseconds of silence after which nobody waits for a stream, or for an upstream that does not answer. */
const SILENCE = 100

const agent = new Agent({ keepAlive: true })
export const endConnections = (): void => agent.destroy()

/** Sends a request. @param patient whether an answer has to come. @returns null where none came, and nobody waited */
export function send(
  url: string,
  { method, path, headers, body, chunked }: Wire,
  patient: boolean,
): Promise<Answer | null> {
  const { hostname, port } = new URL(url)
  const named = new Map<string, string[]>()
  for (const [name, value] of headers) named.set(name.toLowerCase(), [...(named.get(name.toLowerCase()) ?? []), value])
  // Twice the same header is one, as fetch sends it.
  const joined = Object.fromEntries(
    [...named].map(([name, values]) => [name, values.join(name === 'cookie' ? '; ' : ', ')]),
  )
  const length = body && (chunked ? { 'transfer-encoding': 'chunked' } : { 'content-length': String(body.length) })
  return new Promise((resolve, reject) => {
    const sent = request({ hostname, port, method, path, agent, headers: { ...joined, ...length } })
    sent.setTimeout(patient ? 20_000 : SILENCE, () => {
      if (patient) reject(new Error('There is no answer'))
      sent.destroy()
      resolve(null)
    })
    sent.on('error', reject)
    sent.on('response', (response) => {
      const pieces: Buffer[] = []
      if (response.headers['content-type']?.startsWith('text/event-stream')) {
        sent.removeAllListeners('timeout')
        sent.setTimeout(SILENCE, () => sent.destroy())
      }
      response.on('data', (piece: Buffer) => pieces.push(piece))
      response.on('error', () => undefined)
      response.on('close', () => {
        const { statusCode: status, complete: whole } = response
        resolve({ status: status!, headers: response.headers, body: Buffer.concat(pieces).toString(), whole })
      })
    })
    // Written at once, or in two pieces.
    const half = chunked && body ? Math.ceil(body.length / 2) : 0
    if (half > 0) sent.write(body!.subarray(0, half))
    sent.end(body?.subarray(half))
  })
}

const escaped = (text: string): string =>
  text.replaceAll(/[^\x20-\x7e]|['\\]/g, (c) => `\\x${c.charCodeAt(0).toString(16).padStart(2, '0')}`)

/** A value in quotes of a shell. */
const quoted = (text: string): string => (escaped(text) === text ? `'${text}'` : `$'${escaped(text)}'`)

/** The command that sends a request, without what is long. */
export function curl(url: string, { method, path, headers, body, chunked }: Wire): string {
  const all = chunked && body ? [...headers, ['transfer-encoding', 'chunked'] as const] : headers
  const given = all.map(([name, value]) => `-H ${quoted(`${name}: ${value}`)}`)
  const line = [`curl --path-as-is -X ${method} ${quoted(url + path)}`, ...given].join(' ')
  // `printf` also prints what no argument can have.
  const text = body && escaped(body.toString('latin1')).replaceAll('%', '%%')
  const whole = text === undefined ? line : `printf '${text}' | ${line} --data-binary @-`
  return whole.length > 4_000 ? `${whole.slice(0, 4_000)}… (${whole.length} characters)` : whole
}

/** What is wrong with an answer. @param faulty whether the upstream may have failed */
export function problemsOf(
  plan: Plan,
  { path, method }: Wire,
  answer: Answer,
  contract: Contract,
  faulty: boolean,
): string[] {
  const { status, headers, body, whole } = answer
  const { prefix, error } = plan.operation.surface
  const { wrong, body: check } = contract({
    method,
    path: path.slice(prefix.length).split('?', 1)[0]!,
    status,
    header: (name) => headers[name.toLowerCase()]?.toString(),
  })
  const problems = [...wrong]
  const fails = faulty && plan.operation.calls
  const isStream = headers['content-type']?.startsWith('text/event-stream') ?? false
  if (!whole && !isStream && !fails) problems.push('the answer broke off')
  if (whole && isStream && plan.operation.calls && !/^data: (\[DONE\]|\{"error":.*)\n\n$/m.test(body))
    problems.push('the stream ends without [DONE] and without an error')
  if (status === 499) problems.push('499 is never sent')
  if (status >= 500 && !(fails && [502, 503].includes(status))) problems.push(`the status is ${status}`)
  try {
    problems.push(...check(body, whole))
    if (status >= 400 && method !== 'HEAD') problems.push(...misshapen(JSON.parse(body), { error }))
  } catch (reason) {
    problems.push(`the body is not what its type says: ${String(reason)}`)
  }
  return problems
}

/** Where a value does not have the types of an example. */
function misshapen(value: unknown, example: unknown, at = 'the body'): string[] {
  if (typeof value !== typeof example || value === null) return [`${at} is ${JSON.stringify(value)}`]
  if (typeof example !== 'object' || example === null) return []
  return Object.entries(example).flatMap(([key, part]) =>
    misshapen((value as Record<string, unknown>)[key], part, `${at}.${key}`),
  )
}
