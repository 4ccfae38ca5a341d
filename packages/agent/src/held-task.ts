import type { Client, Schemas } from '@turnpike/client'
import { PlatformError } from '@turnpike/client'
import type { Task } from './events.js'

type Change = Schemas['TaskPatch']

/** Why a task is no longer ours. */
export class Lost extends Error {
  override readonly name = 'Lost'
  constructor(
    readonly status: 'taken' | 'deleted' | 'lost',
    message: string,
  ) {
    super(message)
  }
}

/** What an answer to a change says of whose the task is; undefined where that is not in doubt. */
export function lossIn(error: unknown): Lost | undefined {
  if (error instanceof Lost) return error
  if (!(error instanceof PlatformError)) return undefined
  const { status, message } = error
  if (status === 412) return new Lost('taken', 'Somebody else has changed the task')
  if (status === 404) return new Lost('deleted', 'The task was deleted')
  return status === 401 ? new Lost('lost', message) : undefined
}

/** Whether another try would be answered the same. */
const isRefusal = (error: unknown): boolean =>
  error instanceof PlatformError && error.status < 500 && error.status !== 429

/** Changes a task that is as it was read: its ETag is its `updated_at`. */
const patch = (client: Client, { id, updated_at }: Task, body: Change, signal?: AbortSignal): Promise<Task> =>
  client.patch('/api/tasks/{id}', { params: { id }, body, headers: { 'If-Match': `"${updated_at}"` }, signal })

/**
 * Claims a task: it is `running`, and of many who have read the same, one gets it.
 * @throws Lost for all others; PlatformError
 */
export async function claimTask(client: Client, task: Task, lease: number): Promise<HeldTask> {
  const begun = performance.now()
  try {
    return holdTask(client, await patch(client, task, { status: 'running' }), begun, lease)
  } catch (error) {
    throw lossIn(error) ?? error
  }
}

/** A task that was claimed. Each change of it demands that nobody else has changed it since. */
export interface HeldTask {
  /** As it is stored now. */
  current(): Task
  /** What was written last; else the draft that it had. */
  draft(): string | null
  /** Sets the draft, which is stored with the next beat. */
  write(draft: string): void
  /** Makes sure that the task is still held, before something that must not be done twice. @throws Lost */
  ensure(): Promise<void>
  /** Aborts with {@link Lost}, or with what the platform has against the draft. */
  readonly signal: AbortSignal
  /** Ends the beats and stores how the task ends, with what was written. @throws Lost; PlatformError */
  end(change: Change): Promise<Task>
  /** Called with the task whenever it was stored. */
  onStored: (task: Task) => void
}

/**
 * Holds a task: six times in a lease it is stored, with its draft where that has grown, which tells others that somebody works on it. Where nothing
 * could be stored for two thirds of the lease it is given up, before others may take it.
 * @param storedAt when the request began that stored it last, by `performance.now()`
 * @param lease seconds
 */
function holdTask(client: Client, claimed: Task, storedAt: number, lease: number): HeldTask {
  const lost = new AbortController()
  const beat = Math.ceil((lease * 1_000) / 6)
  let task = claimed
  let draft: string | undefined
  let stored: string | undefined
  let last: Promise<unknown> = Promise.resolve()
  const age = (): number => performance.now() - storedAt

  /** Stores a change after those before it, and what was written. A request may take as long as the task is held. */
  const store = (change: Change): Promise<Task> => {
    const next = last.then(async () => {
      if (lost.signal.reason instanceof Lost) throw lost.signal.reason
      const begun = performance.now()
      const text = draft
      const unsaved = text === stored ? undefined : { draft_output: text! }
      task = await patch(
        client,
        task,
        { ...unsaved, ...change },
        AbortSignal.timeout(Math.max(beat, Math.ceil(4 * beat - age()))),
      )
      storedAt = begun
      stored = text
      held.onStored(task)
      return task
    })
    last = next.catch(() => undefined)
    return next
  }

  const refresh = async (): Promise<void> => {
    try {
      await store({ status: 'running' })
    } catch (error) {
      const loss = lossIn(error)
      if (loss || isRefusal(error)) lost.abort(loss ?? error)
      else if (age() > 4 * beat) lost.abort(new Lost('lost', (error as Error).message))
    }
  }
  let isBeating = false
  const timer = setInterval(() => {
    if (isBeating) return
    isBeating = true
    void refresh().finally(() => (isBeating = false))
  }, beat)
  lost.signal.addEventListener('abort', () => clearInterval(timer))

  const held: HeldTask = {
    current: () => task,
    draft: () => draft ?? task.draft_output,
    write: (text) => void (draft = text),
    async ensure() {
      // Timers may have slept: those of a process that was stopped, or of a page in the background.
      if (age() > 2 * beat) await refresh()
      lost.signal.throwIfAborted()
    },
    signal: lost.signal,
    async end(change) {
      clearInterval(timer)
      for (;;)
        try {
          return await store(change)
        } catch (error) {
          const loss = lossIn(error)
          if (loss) throw loss
          if (isRefusal(error)) throw error
          if (age() > 4 * beat) throw new Lost('lost', (error as Error).message)
          await new Promise((resolve) => setTimeout(resolve, beat / 2))
        }
    },
    onStored: () => undefined,
  }
  return held
}
