import { expect } from 'vitest'

/** Text of some length that begins in this way. */
const begins = (text: string): unknown => expect.stringMatching(new RegExp(`^${text}`))

const strawberry = expect.stringMatching(/^There are \*\*3\*\*.*strawberry/) as unknown
const weather = { name: 'weather', arguments: { location: 'San Francisco' } }
const signed = (signature: string) => ({
  ...weather,
  id: 'call_new',
  extra: { google: { thought_signature: begins(signature) } },
})

/** What was read off some of the recordings by eye. */
export const known: Record<string, object> = {
  'google/google-text.json': {
    content: strawberry,
    finish: 'stop',
    usage: { prompt: 9, completion: 272, total: 281, reasoning: 244 },
  },
  'google/google-reasoning.json': {
    content: strawberry,
    finish: 'stop',
    usage: { prompt: 9, completion: 311, total: 320, reasoning: 282 },
  },
  'google/google-reasoning-gemini3.json': {
    content: strawberry,
    finish: 'stop',
    usage: { prompt: 9, completion: 287, total: 296, reasoning: 258 },
  },
  'google/google-tool-call.json': {
    content: '',
    calls: [signed('EskgCsYg')],
    finish: 'tool_calls',
    usage: { prompt: 29, completion: 908, total: 937 },
  },
  'google/google-text.chunks.txt': {
    content: 'There are **3** "r"s in strawberry.\n\nst**r**awbe**rr**y',
    finish: 'stop',
    usage: { total: 217 },
  },
  'google/google-reasoning.chunks.txt': {
    content: 'There are **3** "r"s in strawberry.\n\nHere is the breakdown: st**r**awbe**rr**y.',
    finish: 'stop',
    usage: { total: 294 },
  },
  'google/google-reasoning-gemini3.chunks.txt': {
    content: 'There are **3** "r"s in strawberry.\n\nSt**r**awbe**rr**y',
    finish: 'stop',
    usage: { total: 334 },
  },
  'google/google-tool-call.chunks.txt': {
    calls: [signed('EqUCCqIC')],
    finish: 'tool_calls',
    usage: { prompt: 29, completion: 60, total: 89 },
  },
  'openai/openai-text.chunks.txt': {
    content: expect.stringMatching(/^\*\*Holiday Name:[^]{1709}$/) as unknown,
    reasoning: '',
    calls: [],
    finish: 'stop',
    usage: { prompt: 16, completion: 300, total: 316 },
  },
  'openai-compatible/xai-tool-call.json': {
    content: '',
    reasoning: begins('First, the user is asking'),
    calls: [{ ...weather, id: 'call_46427107' }],
    finish: 'tool_calls',
    usage: { prompt: 307, completion: 281, total: 588 },
  },
  'openai-compatible/xai-tool-call.chunks.txt': {
    content: '',
    reasoning: begins('First[^]{500}'),
    calls: [{ ...weather, id: 'call_79382389' }],
    finish: 'tool_calls',
    usage: { prompt: 307, completion: 253, total: 560 },
  },
  'anthropic/anthropic-message-delta-input-tokens.chunks.txt': {
    content: 'pong',
    finish: 'stop',
    usage: { prompt: 61, completion: 2, total: 63 },
  },
  'anthropic/anthropic-refusal.json': {
    content: '',
    refusal: begins('This request triggered'),
    finish: 'content_filter',
    usage: { prompt: 18, completion: 5, total: 23 },
  },
  'anthropic/anthropic-tool-no-args.chunks.txt': {
    content: "I'll update the issue list for you.",
    calls: [{ id: 'toolu_01QE1WLsSVp5hy5Q3GmGTmjP', name: 'updateIssueList', arguments: {} }],
    finish: 'tool_calls',
    usage: { prompt: 565, completion: 48, total: 613 },
  },
}
