import { expect, it } from 'vitest'
import { asksFor } from './accept.js'

it.each<[accept: string | undefined, asked: boolean]>([
  ['text/event-stream', true],
  ['Text/Event-Stream; charset=utf-8', true],
  ['text/event-stream;q=0.5', true],
  ['text/event-stream, application/json', true],
  ['application/json, text/event-stream', true],
  ['application/json;q=0.5, text/event-stream;q=0.5', true],
  ['text/event-stream, */*;q=0.8', true],
  ['text/event-stream, */*', true],
  ['text/event-stream;q=0', false],
  ['text/event-stream ; Q=0.000', false],
  ['application/json, text/event-stream;q=0.5', false],
  ['text/event-stream;q=0.5, application/*;q=0.6', false],
  ['text/event-stream;q=0.5, */*', false],
  ['text/event-stream;q=0.5, application/json;q=0.1, */*', true],
  ['text/event-streams', false],
  ['text/*', false],
  ['*/*', false],
  ['application/json', false],
  ['', false],
  [undefined, false],
])('Accept: %s asks for a stream: %s', (accept, asked) =>
  expect(asksFor(accept, 'text/event-stream', 'application/json')).toBe(asked),
)
