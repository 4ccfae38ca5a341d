import type { Note } from '@turnpike/core'
import { expect, it } from 'vitest'
import type { Caller } from '../caller.js'
import { chatFields, permitted } from './documented-fields.js'

it('of callers with limits include what answers have and clients send back', () => {
  const extra_content = { google: { thought_signature: 's' } }
  const image = { type: 'image_url', image_url: { url: 'data:image/png;base64,AAAA' }, index: 0, extra_content }
  const answer = {
    role: 'assistant',
    content: [
      { type: 'text', text: 'a', extra_content },
      { ...image, index: undefined },
    ],
    tool_calls: [{ id: 'c', type: 'function', function: { name: 'f', arguments: '{}' }, extra_content }],
    images: [image],
    extra_content,
    reasoning_details: [{ type: 'reasoning.encrypted', data: 's', format: 'google-gemini-v1', index: 0 }],
  }
  const notes: Note[] = []
  const caller = { user: { budget: { usd: 1 } } } as Caller
  const options = { balancePolicy: 'ignore' } as never
  const messages = [answer, { ...answer, images: [{ ...image, provider: 'x' }] }]
  expect(permitted(options, caller, { messages }, chatFields, notes)).toEqual({ messages: [answer, answer] })
  expect(notes).toEqual([{ field: 'messages.images.provider', action: 'dropped' }])
})
