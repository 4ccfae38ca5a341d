import { Confirm, plural, toast, visible } from '@turnpike/ui'
import { useState } from 'preact/hooks'
import { useIsOwner } from './role.js'
import type { Task, TaskStatus } from './tasks.js'
import { ChangedMeanwhile, changeTask, columnOf } from './tasks.js'

/** A task, and where it goes. */
interface Move {
  task: Task
  status: TaskStatus
}

/** Changes that are sent at a time. */
const AT_ONCE = 4

/** Tasks in words: `“Headline”`, or `3 tasks`. */
const named = (tasks: readonly Task[]): string =>
  tasks.length === 1 ? `“${visible(tasks[0]!.title)}”` : plural(tasks.length, 'task')

/** Why a task was not moved: the task policy's reason, that somebody else has changed it, or that the server cannot be reached. */
const reason = (error: unknown): string =>
  error instanceof TypeError ? 'The server cannot be reached.' : (error as Error).message

/** What was moved, and where: `“Headline” is moved to Done.` */
function told(moves: readonly Move[]): string {
  const names = [...new Set(moves.map(({ status }) => columnOf(status).name))]
  const where = names.length === 1 ? `moved to ${names[0]}` : 'moved back'
  return `${named(moves.map(({ task }) => task))} ${moves.length === 1 ? 'is' : 'are'} ${where}.`
}

function tellRefused(refused: readonly (Move & { error: unknown })[], onReload: () => void): void {
  const [{ error }] = refused as [Move & { error: unknown }]
  const { requestId } = error as { requestId?: string }
  toast(
    <>
      <p>
        {named(refused.map(({ task }) => task))} {refused.length === 1 ? 'was' : 'were'} not moved.{' '}
        {[...new Set(refused.map(({ error }) => reason(error)))].join(' ')}
      </p>
      {requestId !== undefined && <p class="small muted mono">Request {requestId}</p>}
    </>,
    {
      tone: 'bad',
      ...(error instanceof ChangedMeanwhile && { action: { label: 'Show it as it is now', run: onReload } }),
    },
  )
}

/** Moves of tasks to other columns. */
export interface Moves {
  /** Where tasks are going that the platform has not moved yet, by id. */
  pending: Readonly<Record<string, TaskStatus>>
  /** Moves tasks, unless they are there. Asks before one that needs approval is done without it, and before one with instructions of others is scheduled. */
  move: (tasks: readonly Task[], status: TaskStatus) => void
  /** The question before an approval is skipped, or agents get what others have written; to be drawn somewhere. */
  question: ReturnType<typeof Confirm> | false
}

/**
 * Moves tasks, and says so, with Undo. Any status may follow any other, unless the platform's task policy refuses it: then the task stays, and it is said why.
 * @param onMove called with each task as the platform answered it
 * @param onReload called when what is shown is to be read again
 */
export function useMoves({ onMove, onReload }: { onMove: (task: Task) => void; onReload: () => void }): Moves {
  const [pending, setPending] = useState<Moves['pending']>({})
  const [asked, ask] = useState<{ moves: readonly Move[]; isUndo: boolean }>()
  const isOwner = useIsOwner()

  /** Whether it has to be asked before a move. Workers leave alone what others have written until the owner schedules it. */
  const isOfOthers = ({ task, status }: Move): boolean => isOwner && status === 'scheduled' && task.by_others === true
  const isUnapproved = ({ task, status }: Move): boolean => status === 'done' && task.requires_user_approval

  const run = async (moves: readonly Move[], isUndo = false): Promise<void> => {
    setPending((all) => ({ ...all, ...Object.fromEntries(moves.map(({ task, status }) => [task.id, status])) }))
    const undo: Move[] = []
    const refused: (Move & { error: unknown })[] = []
    const waiting = [...moves]
    const work = async (): Promise<void> => {
      for (let next = waiting.shift(); next; next = waiting.shift()) {
        const { task, status } = next
        try {
          const moved = await changeTask(task, { status })
          undo.push({ task: moved, status: task.status })
          onMove(moved)
        } catch (error) {
          refused.push({ ...next, error })
        }
        setPending((all) => Object.fromEntries(Object.entries(all).filter(([id]) => id !== task.id)))
      }
    }
    await Promise.all(Array.from({ length: AT_ONCE }, work))
    const done = undo.map(({ task }) => ({ task, status: task.status }))
    if (done.length > 0) toast(told(done), isUndo ? {} : { action: { label: 'Undo', run: () => undone(undo) } })
    if (refused.length > 0) tellRefused(refused, onReload)
  }

  const undone = (moves: readonly Move[]): void => {
    if (moves.some(isOfOthers)) ask({ moves, isUndo: true })
    else void run(moves, true)
  }

  const asksFor = (isAsked: (move: Move) => boolean): Task[] =>
    asked?.moves.filter((move) => isAsked(move)).map(({ task }) => task) ?? []
  const [ofOthers, unapproved] = [asksFor(isOfOthers), asksFor(isUnapproved)]
  return {
    pending,
    move(tasks, status) {
      const moves = tasks.filter((task) => task.status !== status).map((task) => ({ task, status }))
      if (moves.length === 0) return
      if (moves.some((move) => isUnapproved(move) || isOfOthers(move))) ask({ moves, isUndo: false })
      else void run(moves)
    },
    question: asked !== undefined && (
      <Confirm
        {...(ofOthers.length > 0
          ? { title: 'Schedule what others have written?', action: 'Schedule' }
          : { title: 'Done without approval?', action: 'Skip the approval' })}
        onConfirm={() => void run(asked.moves, asked.isUndo)}
        onClose={() => ask(undefined)}
      >
        {ofOthers.length > 0 ? (
          <p class="break">
            Another member has made or changed {named(ofOthers)}. Once you schedule{' '}
            {ofOthers.length === 1 ? 'it' : 'them'}, your agents do what is written there: open and read it first.
          </p>
        ) : (
          <p class="break">
            {named(unapproved)} {unapproved.length === 1 ? 'needs' : 'need'} your approval. Moving to Done skips that,
            and no draft becomes the output. To approve a draft, open its task.
          </p>
        )}
      </Confirm>
    ),
  }
}
