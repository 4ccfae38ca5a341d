import { isObject } from '@turnpike/core/helpers'
import type { Block } from './content.js'

/**
 * Claude's thoughts in OpenAI's form, which has no place for them (docs/decisions/045): `reasoning_details` as OpenRouter has it, and
 * `thinking_blocks` as LiteLLM has it. Clients of either send the field back unchanged.
 */
const FORMAT = 'anthropic-claude-v1'

/** Most characters of the id of a call, which each thought before it has; Claude's own have some 30. */
const ID_LENGTH = 256

/** A `thinking` or `redacted_thinking` block of an answer. */
export interface Thought {
  type: string
  thinking?: string | undefined
  signature?: string | undefined
  data?: string | undefined
}

/** The fields of a message or delta for thoughts. */
export interface ThoughtFields {
  reasoning_details: object[]
  thinking_blocks: object[]
}

/** Whether a block is a thought that Claude accepts again: one that is signed or encrypted. */
export const isSigned = ({ type, signature, data }: Thought): boolean =>
  (type === 'thinking' && Boolean(signature)) || (type === 'redacted_thinking' && Boolean(data))

/** Collects the thoughts of an answer. Those that no client can send back, because they are not signed, are left out. */
export interface ThoughtCarrier {
  add(thought: Thought): void
  /** Moves the thoughts since the last call to the fields of a message or delta. @param call the id of the tool call that follows them */
  move(fields: ThoughtFields, call?: string): void
}

/** Creates the carrier of one answer. Its thoughts are numbered, because clients join the fragments of a stream by their number. */
export function thoughtCarrier(): ThoughtCarrier {
  const pending: Thought[] = []
  let index = 0
  return {
    add(thought) {
      if (isSigned(thought)) pending.push(thought)
    },
    move({ reasoning_details, thinking_blocks }, call) {
      for (const { type, thinking: text = '', signature, data } of pending.splice(0)) {
        const id = call !== undefined && call.length <= ID_LENGTH ? call : null
        const common = { id, format: FORMAT, index: index++ }
        if (type === 'thinking') {
          reasoning_details.push({ type: 'reasoning.text', text, signature, ...common })
          thinking_blocks.push({ type, thinking: text, signature })
        } else {
          reasoning_details.push({ type: 'reasoning.encrypted', data, ...common })
          thinking_blocks.push({ type, data })
        }
      }
    },
  }
}

/** A thought of an earlier answer, and the id of the tool call that it preceded. */
export interface EarlierThought {
  block: Block
  before: unknown
}

/** Joins the fragments of a stream, which some clients send back as they came, to blocks. Thoughts without a signature are left out. */
function join(fragments: { block: Thought; index: unknown; before: unknown }[]): EarlierThought[] {
  const joined: typeof fragments = []
  for (const { block, index, before } of fragments) {
    const last = joined.at(-1)
    const goesOn = last?.block.type === 'thinking' && !last.block.signature && last.index === index
    if (goesOn && block.type === 'thinking') {
      last.block.thinking += block.thinking!
      last.block.signature = block.signature
      last.before ??= before
    } else joined.push({ block: { ...block }, index, before })
  }
  return joined.filter(({ block }) => isSigned(block)).map(({ block, before }) => ({ block: block as Block, before }))
}

const textOf = (value: unknown): string => (typeof value === 'string' ? value : '')

const fromBlock = (block: Record<string, unknown>): Thought =>
  block['type'] === 'redacted_thinking'
    ? { type: 'redacted_thinking', data: textOf(block['data']) }
    : { type: 'thinking', thinking: textOf(block['thinking']), signature: textOf(block['signature']) }

/** Other formats are those of other families. Texts without a format are taken as Claude's if they are signed, which those of no other family are. */
function fromDetail({ type, text, signature, data, format }: Record<string, unknown>): Thought | undefined {
  const isOurs = textOf(format).startsWith('anthropic')
  if (type === 'reasoning.encrypted') return isOurs ? { type: 'redacted_thinking', data: textOf(data) } : undefined
  if (type !== 'reasoning.text' || !(isOurs || [undefined, null, 'unknown'].includes(format as null))) return undefined
  return { type: 'thinking', thinking: textOf(text), signature: textOf(signature) }
}

const objects = (value: unknown): Record<string, unknown>[] => (Array.isArray(value) ? value.filter(isObject) : [])

/**
 * Reads the thoughts of an assistant message: its `reasoning_details`, or its `thinking_blocks` where these have none that is signed.
 * @returns also the field that it has of these two
 */
export function thoughtsOf(message: Record<string, unknown>): { thoughts: EarlierThought[]; field?: string } {
  const details = objects(message['reasoning_details'])
  const blocks = objects(message['thinking_blocks'])
  if (details.length + blocks.length === 0) return { thoughts: [] }
  const told = details.flatMap((detail) => {
    const block = fromDetail(detail)
    return block ? [{ block, index: detail['index'], before: detail['id'] }] : []
  })
  let thoughts = join(told)
  if (thoughts.length === 0)
    thoughts = join(blocks.map((block) => ({ block: fromBlock(block), index: undefined, before: undefined })))
  return { thoughts, field: details.length > 0 ? 'messages.reasoning_details' : 'messages.thinking_blocks' }
}
