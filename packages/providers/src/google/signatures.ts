import { isObject } from '@turnpike/core/helpers'

type Loose = Record<string, unknown>

/**
 * Gemini's thought signatures in the two forms that clients send back: `extra_content` of Google's own OpenAI-compatible API, on what is signed,
 * and `reasoning_details` of OpenRouter, on the message, which name the signed call by its id.
 */
const FORMAT = 'google-gemini-v1'

/** The signature that Google documents for what Gemini 3 did not make itself; it rejects calls and images without one. */
export const UNSIGNED = 'skip_thought_signature_validator'

/** The `extra_content` of what is signed. */
export const toExtraContent = (signature: string): object => ({ google: { thought_signature: signature } })

/** An entry of `reasoning_details`. @param id of the signed call; undefined for text */
export const toDetail = (data: string, index: number, id?: string): object => ({
  type: 'reasoning.encrypted',
  data,
  ...(id !== undefined && { id }),
  format: FORMAT,
  index,
})

const textOf = (value: unknown): string | undefined => (typeof value === 'string' && value !== '' ? value : undefined)

/** The signature in the `extra_content` of a call, a part or a message. */
export function signatureOf(signed: Loose): string | undefined {
  const extra = signed['extra_content'] as { google?: { thought_signature?: unknown } | null } | null | undefined
  return textOf(extra?.google?.thought_signature)
}

/** The signatures in the `reasoning_details` of a message: by the id of their call, and in order those without one. */
export function detailsOf({ reasoning_details: details }: Loose): { byId: Map<string, string>; others: string[] } {
  const byId = new Map<string, string>()
  const others: string[] = []
  for (const detail of Array.isArray(details) ? (details as unknown[]) : []) {
    if (!isObject(detail) || detail['type'] !== 'reasoning.encrypted' || detail['format'] !== FORMAT) continue
    const data = textOf(detail['data'])
    const id = textOf(detail['id'])
    if (data && id) byId.set(id, data)
    else if (data) others.push(data)
  }
  return { byId, others }
}
