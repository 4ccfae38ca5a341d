import { unauthenticated } from '@turnpike/core/internal'
import { isObject } from '@turnpike/core/helpers'
import { bytes, ENTRIES_PER_READ, isAnswer } from '@turnpike/http'
import type { RequestCount } from './caller.js'
import { charactersOf } from './characters.js'
import { REQUEST_BYTES, REQUEST_ENTRIES } from './conventions.js'
import { isEnding } from './ending-operations.js'
import type { PlatformRoute } from './operation.js'

/** Does work of a user when it is its turn. */
export type Turn = <T>(userId: string, work: (hasWaited: boolean) => Promise<T>) => Promise<T>

/**
 * Runs work of each user a few at a time; what comes beyond waits for its turn, first come, first served.
 * @param most how much work of a user runs at a time
 */
export function turns(most: number): Turn {
  const users = new Map<string, { running: number; waiting: (() => void)[] }>()
  return async (userId, work) => {
    const own = users.get(userId) ?? { running: 0, waiting: [] }
    users.set(userId, own)
    const waits = own.running >= most
    if (!waits) own.running++
    else await new Promise<void>((resolve) => own.waiting.push(resolve))
    try {
      return await work(waits)
    } finally {
      const next = own.waiting.shift()
      if (next) next()
      else if (--own.running === 0) users.delete(userId)
    }
  }
}

/** The pages of a list, each in turn, while its user may read it. They leave half of the minute for all else, and go on in the next. */
async function* eachInTurn(
  body: AsyncIterable<Uint8Array>,
  userId: string,
  { turn, more, page, room }: RequestCount,
  check: () => Promise<void>,
): AsyncGenerator<Uint8Array> {
  const iterator = body[Symbol.asyncIterator]()
  const read = (): Promise<IteratorResult<Uint8Array, undefined>> => turn(userId, () => iterator.next(), true)
  const further = async (): Promise<IteratorResult<Uint8Array, undefined>> => {
    const result = await read()
    if (result.done) return result
    await room(userId)
    await check()
    await more(userId, Math.max(result.value.length / REQUEST_BYTES, ENTRIES_PER_READ / REQUEST_ENTRIES))
    return result
  }
  try {
    let result = await read()
    if (!result.done) await more(userId, result.value.length / REQUEST_BYTES)
    while (!result.done) {
      yield result.value
      result = await page(userId, further)
    }
  } finally {
    await iterator.return?.()
  }
}

/** Operations that read little, whatever others have written: they are done also by users who have read too much for their minute. */
const READS_LITTLE = new Set([
  'account.get',
  'account.balance',
  'account.limits',
  'auth.session',
  'projects.get',
  'projects.update',
  'projects.remove',
  'tasks.create',
  'tasks.remove',
  'keys.revoke',
])

/** How many requests an answer counts as besides its own: by its characters, or by the entries of a list in it. */
function requestsOf(answer: unknown): number {
  const lists = [answer, ...(isObject(answer) ? Object.values(answer) : [])].filter(Array.isArray)
  const entries = Math.max(1, ...lists.map(({ length }) => length))
  return Math.max(charactersOf(answer) / REQUEST_BYTES, (entries - 1) / REQUEST_ENTRIES)
}

/**
 * A route whose operation, and each piece of a list that it answers with, waits for the user's turn and is counted by its size. Uploads and replies
 * are not: they take as long as the client or the model does. Nor is what ends sign-ins. Before each further page of a list, and after the wait for a turn, the caller is looked up again.
 */
export function inTurns(given: PlatformRoute, count: RequestCount): PlatformRoute {
  const { operation } = given
  if (operation.form || operation.events || isEnding(operation.id)) return given
  const { permit } = operation
  const run: typeof operation.run = async (caller, input, call) => {
    if (!caller) return operation.run(caller, input, call)
    const { id } = caller.user
    const work = async (hasWaited: boolean): Promise<unknown> => {
      const made = await operation.run(hasWaited ? await call.again() : caller, input, call)
      if (!isAnswer(made)) await count.more(id, requestsOf(made))
      return made
    }
    const value = await count.turn(id, work, READS_LITTLE.has(operation.id))
    if (!isAnswer(value) || value.kind !== 'bytes' || typeof value.body === 'string') return value
    const check = async (): Promise<void> => {
      if ((await call.again())?.user.role !== caller.user.role) throw unauthenticated()
    }
    return bytes(eachInTurn(value.body, id, count, check), value.contentType)
  }
  return {
    ...given,
    operation: {
      ...operation,
      run,
      ...(permit && { permit: (caller, params) => count.turn(caller!.user.id, () => permit(caller, params)) }),
    },
  }
}
