import { isObject } from '@turnpike/core/helpers'
import { parseJson } from '../upstream/json.js'

/**
 * The fields that hold an error or its text, in the order in which they are read. `message`: Cohere, AWS, Mistral, and frameworks such as NestJS whose
 * `error` names the status only; `error_description`: OAuth, whose `error` is a code; `error`: OpenAI, an object, and Ollama, TGI and xAI, a text; `detail`:
 * FastAPI and RFC 9457; `errors`: Cloudflare, watsonx; `issues`: zod; `base_resp`: MiniMax; `error_msg`: Baidu; `details`: Azure; `description`: Writer; `fault`:
 * Apigee; `header`: Spark; `Response`: Tencent.
 */
const fields = [
  'message',
  'error_description',
  'error',
  'detail',
  'errors',
  'issues',
  'msg',
  'error_msg',
  'error_message',
  'base_resp',
  'status_msg',
  'Message',
  'description',
  'details',
  'err',
  'fault',
  'faultstring',
  'header',
  'Response',
  'Error',
  'title',
]

/** How deep an error may lie, and how many of a list are in its text. */
const DEPTH = 8
const ITEMS = 10
/** Characters that are read of a page or a text, and most of all texts together. */
const PAGE = 4_000

/** Most fields that an error names by its structure, and steps of the path of each, that are read. */
const FAULTS = 50

/** The words of an HTML or XML page: its title, else all of its text. */
function pageText(page: string): string {
  const title = /<title[^<>]*>([^<]*)/i.exec(page)?.[1]?.trim()
  const text = title || page.replace(/<(script|style)\b[\s\S]*?<\/\1>/gi, ' ').replace(/<[^<>]*>/g, ' ')
  return text.replace(/\s+/g, ' ').trim()
}

/** Characters up to which a text may be JSON: no more is read of an answer with an error status. */
const JSON_LENGTH = 64 * 1024

/** The JSON of which a text consists: some proxies pass it on so. */
const jsonIn = (text: string): unknown =>
  text.length <= JSON_LENGTH && /^\s*[[{]/.test(text) ? parseJson(text) : undefined

/** A text as it is, unless it is a page or JSON. */
function plainText(given: string, depth: number): string | undefined {
  const inner = read(jsonIn(given), depth)
  if (inner !== undefined) return inner
  const text = given.trim()
  const start = text.slice(0, PAGE)
  return (start.startsWith('<') ? pageText(start) : start) || undefined
}

/** The path of an item of FastAPI's list, `{loc: ["body", "messages", 0], msg}`. */
const pathOf = (loc: unknown[]): string =>
  loc
    .filter((step, at) => typeof step === 'number' || (typeof step === 'string' && (at > 0 || step !== 'body')))
    .join('.')

/** An item with the path of a field, of FastAPI (`loc`, `msg`) or zod (`path`, `message`): the place and what is wrong there, without the input that it repeats. */
function itemOf({ loc, path = loc, msg, message = msg }: Record<string, unknown>) {
  if (!Array.isArray(path)) return undefined
  const place = pathOf(path)
  const text =
    typeof message === 'string' ? (place === '' ? message : `${place}: ${message}`).slice(0, PAGE) : undefined
  return { loc: path as unknown[], text }
}

/** The texts of an object that has a list for each field: Rails, and marshmallow below `json`. */
const listed = (errors: unknown, depth: number): string[] =>
  isObject(errors) && depth > 0
    ? Object.entries(errors).flatMap(([field, given]) =>
        Array.isArray(given) ? `${field}: ${read(given, depth - 1) ?? ''}` : listed(given, depth - 1),
      )
    : []

function read(value: unknown, depth: number): string | undefined {
  if (depth === 0) return undefined
  if (typeof value === 'string') return plainText(value, depth - 1)
  if (Array.isArray(value)) {
    const texts = value.slice(0, ITEMS).flatMap((item) => read(item, depth - 1) ?? [])
    return texts.length > 0 ? texts.join('; ').slice(0, PAGE) : undefined
  }
  if (!isObject(value)) return undefined
  const { metadata } = value
  const item = itemOf(value)
  if (item?.text !== undefined) return item.text
  for (const field of fields) {
    const text =
      read(value[field], depth - 1) ?? (field === 'errors' ? read(listed(value[field], depth), depth - 1) : undefined)
    if (text === undefined) continue
    // OpenRouter's message is "Provider returned error"; the provider's own is in `metadata.raw`.
    const raw = isObject(metadata) ? read(metadata['raw'], depth - 1) : undefined
    return raw === undefined ? text : `${text}: ${raw}`.slice(0, PAGE)
  }
  return undefined
}

/**
 * The text of an error answer, in any of the forms that vendors and compatible servers document.
 * @param body parsed JSON, or a text that is none, such as an HTML page of a proxy
 */
export const errorText = (body: unknown): string | undefined => read(body, DEPTH)

/** What an error names by its structure: OpenAI's `code` and `param`, FastAPI's `type` and `loc`. */
export interface Fault {
  code: string
  /** The path of a field, with dots. */
  path: string
  /** The text, in JSON, that names it. */
  json: string
}

/**
 * All texts of an error answer, each cut, and what it names by its structure. Fields that repeat what was sent (`input`, `ctx`, `failed_generation`) are
 * not read.
 * @param answer JSON, as text or parsed, or a text that is none
 */
export function errorParts(answer: unknown): { texts: string[]; faults: Fault[] } {
  const texts: string[] = []
  const faults: Fault[] = []
  const add = (fault: Fault): void => {
    if (faults.length < FAULTS) faults.push(fault)
  }
  const visit = (value: unknown, depth: number, json: string): void => {
    if (depth === 0) return
    if (typeof value === 'string') {
      const inner = jsonIn(value)
      if (inner === undefined) texts.push(value.slice(0, PAGE))
      else visit(inner, depth - 1, value)
    } else if (Array.isArray(value)) {
      for (const item of value) visit(item, depth - 1, json)
    } else if (isObject(value)) {
      const { code, param, metadata } = value
      const item = itemOf(value)
      if (item) {
        const { type = code, keys = [''] } = value
        const loc = item.loc.slice(0, FAULTS)
        if (Array.isArray(keys))
          for (const key of keys.slice(0, FAULTS)) add({ code: wordOf(type), path: pathOf([...loc, key]), json })
        if (item.text !== undefined) return void texts.push(item.text)
      }
      if (typeof param === 'string' && param !== '') add({ code: wordOf(code), path: param, json })
      for (const field of fields) visit(value[field], depth - 1, json)
      if (!Array.isArray(value['errors'])) texts.push(...listed(value['errors'], depth))
      if (isObject(metadata)) visit(metadata['raw'], depth - 1, json)
    }
  }
  visit(answer, DEPTH, typeof answer === 'string' ? answer : '')
  return { texts, faults }
}

/** A code as a text; '' for one that is none. */
const wordOf = (code: unknown): string => (typeof code === 'string' || typeof code === 'number' ? String(code) : '')

/** The object that holds the code of an error: `{error: {…}}`, a list of such, or the body itself. */
export function errorObject(body: unknown): Record<string, unknown> {
  const given: unknown = Array.isArray(body) ? body[0] : body
  if (!isObject(given)) return {}
  return isObject(given['error']) ? given['error'] : given
}
