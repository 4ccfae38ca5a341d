/** The mock upstream: OpenAI's answers, and Claude's and Gemini's streams, over bare sockets, ready-made, so that the core it shares is left to the load generator. */
import { createServer } from 'node:net'
import { chatResponse, claudeEvents, geminiEvents, streamEvents } from './payload.mjs'

const ok = (headers) => `HTTP/1.1 200 OK\r\n${headers.join('\r\n')}\r\n\r\n`
const httpChunk = (text) => `${text.length.toString(16)}\r\n${text}\r\n`
const LAST = '0\r\n\r\n'

const answer = ok(['content-type: application/json', `content-length: ${chatResponse.length}`]) + chatResponse
const streamHead = ok(['content-type: text/event-stream; charset=utf-8', 'transfer-encoding: chunked'])

/** By the path that a family is asked at. */
const families = [
  [/^POST \S*\/messages /, claudeEvents],
  [/^POST \S*:streamGenerateContent/, geminiEvents],
  [/^POST /, streamEvents],
]
const streams = new Map()
/** The pieces of a stream as they are written: one event each, one HTTP chunk each; what ends it rides with the event before. */
function piecesOf(events, chunks) {
  const key = `${events.name} ${chunks}`
  let pieces = streams.get(key)
  if (!pieces) {
    const given = events(chunks)
    const last = given.pop()
    given.push(given.pop() + last)
    pieces = given.map(httpChunk)
    pieces.push(pieces.pop() + LAST)
    streams.set(key, pieces)
  }
  return pieces
}

function respond(socket, request) {
  const [, chunks, ms] = /stream-(\d+)-(\d+)/.exec(request) ?? []
  if (chunks === undefined) {
    socket.write(answer, 'latin1')
    return
  }
  const [, events] = families.find(([path]) => path.test(request))
  const pieces = piecesOf(events, Number(chunks))
  if (ms === '0') {
    socket.write(streamHead + pieces.join(''), 'latin1')
    return
  }
  socket.write(streamHead, 'latin1')
  let next = 0
  const timer = setInterval(() => {
    if (socket.destroyed || next === pieces.length) clearInterval(timer)
    else socket.write(pieces[next++], 'latin1')
  }, Number(ms))
}

const server = createServer({ noDelay: true }, (socket) => {
  let pending = ''
  socket.on('error', () => socket.destroy())
  socket.on('data', (piece) => {
    pending += piece.latin1Slice()
    const end = pending.indexOf('\r\n\r\n')
    if (end === -1) return
    const length = /\r\ncontent-length: *(\d+)/i.exec(pending)?.[1]
    // A gateway that sends its body in another way is none that this bench knows.
    if (length === undefined) socket.end('HTTP/1.1 411 Length Required\r\ncontent-length: 0\r\n\r\n')
    if (length === undefined || pending.length < end + 4 + Number(length)) return
    const request = pending
    pending = ''
    respond(socket, request)
  })
})
server.listen(0, '127.0.0.1', () => process.send(server.address().port))
process.on('disconnect', () => process.exit())
