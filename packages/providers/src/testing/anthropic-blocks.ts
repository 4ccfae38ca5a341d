import { isObject } from '@turnpike/core/helpers'
import type { Json, Problem } from './rules.js'
import { first, words } from './rules.js'

/** The unknown fields of an object. */
export const extra = (value: Json, known: string[], at = ''): Problem =>
  first(Object.keys(value), (name) =>
    known.includes(name) ? undefined : `${at}${name}: Extra inputs are not permitted`,
  )

const blockFields: Record<string, string[]> = {
  text: words('type text citations cache_control'),
  image: words('type source cache_control'),
  document: words('type source title context citations cache_control'),
  tool_use: words('type id name input caller cache_control'),
  tool_result: words('type tool_use_id content is_error cache_control'),
  thinking: words('type thinking signature'),
  redacted_thinking: words('type data'),
}

/** The block types allowed in each place. */
const blockTypes = {
  system: ['text'],
  user: ['text', 'image', 'document', 'tool_result'],
  assistant: ['text', 'tool_use', 'thinking', 'redacted_thinking'],
  tool_result: ['text', 'image', 'document'],
}

const idPattern = '^[a-zA-Z0-9_-]+$'
export const namePattern = '^[a-zA-Z0-9_-]{1,128}$'

export const checkPattern = (value: unknown, pattern: string, at: string): Problem =>
  typeof value === 'string' && new RegExp(pattern).test(value)
    ? undefined
    : `${at}: String should match pattern '${pattern}'`

const checkText = (text: unknown, at: string): Problem => {
  if (typeof text !== 'string') return `${at}: Input should be a valid string`
  const field = at.split('.')[0]!
  if (text === '') return `${field}: text content blocks must be non-empty`
  return text.trim() === '' ? `${field}: text content blocks must contain non-whitespace text` : undefined
}

/** The fields of each source type, and their syntax. */
const sources: Record<string, Record<string, Record<string, RegExp>>> = {
  image: {
    base64: { media_type: /^image\/(jpeg|png|gif|webp)$/, data: /^[A-Za-z0-9+/]+=*$/ },
    url: { url: /^https:\/\/./ },
  },
  document: {
    base64: { media_type: /^application\/pdf$/, data: /^[A-Za-z0-9+/]+=*$/ },
    text: { media_type: /^text\/plain$/, data: /[^]/ },
    url: { url: /^https:\/\/./ },
  },
}

function checkSource(block: Json, at: string): Problem {
  const source = block['source']
  if (!isObject(source)) return `${at}.source: Field required`
  const kind = String(source['type'])
  const members = sources[block['type'] as string]![kind]
  if (!members) return `${at}.source: Input tag '${kind}' found using 'type' does not match any of the expected tags`
  return (
    extra(source, ['type', ...Object.keys(members)], `${at}.source.${kind}.`) ??
    first(Object.entries(members), ([name, pattern]) =>
      typeof source[name] === 'string' && pattern.test(source[name])
        ? undefined
        : `${at}.source.${kind}.${name}: Input should match ${pattern.source}`,
    )
  )
}

export function checkCacheControl(value: unknown, at: string): Problem {
  if (value === undefined) return undefined
  const fits =
    isObject(value) && value['type'] === 'ephemeral' && [undefined, '5m', '1h'].includes(value['ttl'] as string)
  return fits ? extra(value, ['type', 'ttl'], `${at}.`) : `${at}: Input should be ephemeral, for '5m' or '1h'`
}

function checkBlock(block: unknown, owner: keyof typeof blockTypes, place: string): Problem {
  const type = String(isObject(block) ? block['type'] : undefined)
  if (!isObject(block) || !blockTypes[owner].includes(type))
    return `${place}: Input tag '${type}' found using 'type' does not match any of the expected tags: ${blockTypes[owner].map((tag) => `'${tag}'`).join(', ')}`
  const at = `${place}.${type}`
  if (owner === 'tool_result' && block['cache_control'] !== undefined)
    return `${place}: cache_control may not be specified within \`tool_result.content\`. Instead, place it directly on \`tool_result\`.`
  const problem =
    extra(block, blockFields[type]!, `${at}.`) ?? checkCacheControl(block['cache_control'], `${at}.cache_control`)
  if (problem) return problem
  switch (type) {
    case 'text':
      return checkText(block['text'], `${at}.text`)
    case 'tool_use':
      return (
        checkPattern(block['id'], idPattern, `${at}.id`) ??
        checkPattern(block['name'], namePattern, `${at}.name`) ??
        (isObject(block['input']) ? undefined : `${at}.input: Input should be a valid dictionary`)
      )
    case 'tool_result': {
      const { tool_use_id, content = '' } = block
      return (
        checkPattern(tool_use_id, idPattern, `${at}.tool_use_id`) ??
        (typeof content === 'string' ? undefined : checkBlocks(content, 'tool_result', `${at}.content`))
      )
    }
    case 'thinking':
      if (typeof block['signature'] !== 'string') return `${at}.signature: Field required`
      return block['signature'] === '' ? `${place}: Invalid \`signature\` in \`thinking\` block` : undefined
    case 'redacted_thinking':
      return typeof block['data'] === 'string' && block['data'] !== ''
        ? undefined
        : `${place}: Invalid \`data\` in \`redacted_thinking\` block`
    default:
      return checkSource(block, at)
  }
}

const checkBlocks = (content: unknown, owner: keyof typeof blockTypes, at: string): Problem =>
  Array.isArray(content)
    ? first(content, (block, i) => checkBlock(block, owner, `${at}.${i}`))
    : `${at}: Input should be a valid list`

export const isThought = (block: unknown): boolean =>
  isObject(block) && (block['type'] === 'thinking' || block['type'] === 'redacted_thinking')

export const checkContent = (content: unknown, owner: keyof typeof blockTypes, at: string): Problem => {
  if (typeof content === 'string') return checkText(content, at)
  const problem = checkBlocks(content, owner, at)
  if (problem || !isThought((content as unknown[]).at(-1))) return problem
  return `${at}: The final block in an assistant message cannot be \`thinking\`.`
}
