import { expect, it } from 'vitest'
import { readStream } from './sse.js'

const none = { chunks: [], errors: [], done: 0, late: 0, invalid: [] }

it.each(['\n', '\r\n', '\r'])('reads events whose lines end with %j', (end) => {
  const lines = [': ping', '', 'id: 1', 'data: {"id":', 'data: "a"}', '', 'data:[DONE]', '', '']
  expect(readStream(lines.join(end))).toEqual({ ...none, chunks: [{ id: 'a' }], done: 1 })
})

it('tells errors from chunks', () => {
  expect(readStream('data: {"error":{"message":"a"}}\n\n')).toEqual({ ...none, errors: [{ error: { message: 'a' } }] })
  expect(readStream('event: error\ndata: {"message":"a"}\n\n')).toEqual({ ...none, errors: [{ message: 'a' }] })
})

it('counts what comes after the end', () => {
  expect(readStream('data: [DONE]\n\ndata: {}\n\ndata: [DONE]\n\n')).toEqual({
    ...none,
    chunks: [{}],
    done: 2,
    late: 2,
  })
})

it('reports what is no event', () => {
  expect(readStream('data: {"id"\n\n{"error":{}}\n')).toEqual({ ...none, invalid: ['{"id"', '{"error":{}}'] })
})
