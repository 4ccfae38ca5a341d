import type { Sent } from './families/family.js'

/** Breaks the connection. */
export const cut = Symbol('cut')
/** Waits until the client has received a part of the answer. */
export const untilRead = Symbol('until the client has read')
/** Waits until the gateway has closed the connection. */
export const untilClosed = Symbol('until the connection is closed')

/** Bytes for one write, or an event; '' sends the head alone. */
export type Step = string | Uint8Array | typeof cut | typeof untilRead | typeof untilClosed

/** An upstream's answer, step by step. The first bytes follow the head, which is not sent without them. */
export interface Answer {
  /** Default 200. */
  status?: number
  /** Default none. */
  headers?: Record<string, string>
  steps: Step[]
  /** Changes the text of all steps on its way, and says in which pieces it is sent. */
  change?: (text: string) => (string | Uint8Array)[]
}

/** An upstream's behaviour. */
export type Script = (sent: Sent) => Answer

/** A whole body. */
export const whole = (body: object | string, status = 200, headers: Record<string, string> = {}): Answer => ({
  status,
  headers: { 'content-type': 'application/json', ...headers },
  steps: [typeof body === 'string' ? body : JSON.stringify(body)],
})

/** A stream of events, whose head comes first. */
export const stream = (...steps: Step[]): Answer => ({
  headers: { 'content-type': 'text/event-stream' },
  steps: ['', ...steps],
})
