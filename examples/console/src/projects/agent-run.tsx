import './agent-run.css'
import type { Outcome } from '@turnpike/agent'
import type { Tone } from '@turnpike/ui'
import { AgreeButton, count, indented, LongText, Notice, Panel, Status, usd, visible } from '@turnpike/ui'
import { Markdown } from '@turnpike/ui/markdown'
import { useContext, useEffect, useRef } from 'preact/hooks'
import type { CallPart, Run } from './agent-run-parts.js'
import { MOST_PARTS } from './agent-run-parts.js'
import { runs, startRun } from './agent-runs.js'
import { Thinking } from './message-parts.js'
import { ModelForm } from './model-form.js'
import { ShownProject, useIsOwner, useMayEdit } from './role.js'
import type { Task } from './tasks.js'

const states: Record<CallPart['state'], [name: string, tone: Tone]> = {
  asked: ['Asks you', 'warn'],
  running: ['Running', 'busy'],
  done: ['Done', 'good'],
  failed: ['Failed', 'bad'],
  refused: ['Refused', 'off'],
}

/** A call of a tool, with what it is called with and, once it has run, what it gave. */
function Call({
  part: { id, name, args, about, state, result },
  onAnswer,
}: {
  part: CallPart
  onAnswer: Run['answer']
}) {
  const [word, tone] = states[state]
  return (
    <div class="agent-call stack" role="group" aria-label={`Call of ${visible(name)}`}>
      <div class="spread">
        <span>
          <code>{visible(name)}</code>
          {about !== undefined && <b class="break"> {visible(about)}</b>}
        </span>
        <Status tone={tone}>{word}</Status>
      </div>
      {args !== undefined && Object.keys(args as object).length > 0 && (
        <pre class="small">
          <LongText text={visible(indented(JSON.stringify(args)))} />
        </pre>
      )}
      {state === 'asked' && (
        <div class="row end">
          <button type="button" onClick={() => onAnswer(id, 'refuse')}>
            Refuse
          </button>
          <AgreeButton onClick={() => onAnswer(id, 'always')}>Always allow</AgreeButton>
          <AgreeButton class="primary" onClick={() => onAnswer(id, 'allow')}>
            Allow
          </AgreeButton>
        </div>
      )}
      {result !== undefined && (
        <details class="small">
          <summary>{state === 'done' ? 'Result' : 'Reason'}</summary>
          <pre>
            <LongText text={result} />
          </pre>
        </details>
      )}
    </div>
  )
}

/** How a run ended, where the task itself does not show it. */
function endOf(outcome: Outcome): string | undefined {
  if (outcome.status === 'failed' || outcome.status === 'lost') return outcome.reason
  if (outcome.status === 'taken') return 'Somebody else has changed the task, so the agent has stopped.'
  return outcome.status === 'scheduled' ? 'You stopped it. What came of it is the draft.' : undefined
}

/** What an agent does, as it does it. */
function Running({ run }: { run: Run }) {
  const { model, parts, gone, retry, cost, outcome, answer, stop } = run
  const end = outcome && endOf(outcome)
  const isDraft = outcome?.status === 'waiting_approval' || outcome?.status === 'done'
  const facts = [model, cost && `${count(cost.tokens)} tokens`, cost && usd(cost.dollars)].filter(Boolean)
  return (
    <Panel title={outcome ? 'What the agent did' : 'The agent works'}>
      <div class="body stack">
        {gone > 0 && <p class="small amber">Here are the last {count(MOST_PARTS)} parts of it.</p>}
        {parts.map((part, i) => {
          if (part.type === 'call') return <Call key={gone + i} part={part} onAnswer={answer} />
          const isLast = i === parts.length - 1 && !outcome
          if (part.type === 'thinking') return <Thinking key={gone + i} text={part.text} isRunning={isLast} />
          // The last text is the draft, which is shown below.
          if (isDraft && i === parts.length - 1) return null
          return <Markdown key={gone + i} text={part.text} hasTools={false} />
        })}
        {retry !== undefined && <p class="small warn">{retry} It is asked again.</p>}
        {end !== undefined && <Notice>{end}</Notice>}
        <div class="spread">
          <span class="small muted number" role="status">
            {facts.join(' · ')}
          </span>
          {!outcome && (
            <button type="button" onClick={stop}>
              Stop
            </button>
          )}
        </div>
        {!outcome && <p class="small muted">It works in this page: keep it open. You may close the task.</p>}
      </div>
    </Panel>
  )
}

/** Whether an agent works on a task in this page. */
export const isRunHere = ({ id }: Task): boolean => runs.value[id] !== undefined && !runs.value[id].outcome

/** An agent for a task: it can be started, is shown as it works, and what it did afterwards. @param onChange called with the task whenever it was stored */
export function AgentRun({ task, onChange }: { task: Task; onChange: (task: Task) => void }) {
  const run = runs.value[task.id]
  const changed = run?.task
  const told = useRef(changed)
  useEffect(() => {
    if (changed && changed !== told.current) onChange(changed)
    told.current = changed
  }, [changed])
  const project = useContext(ShownProject)
  // What others have written, its owner lets agents do first.
  const isOfOthers = useIsOwner() && task.by_others === true
  const mayStart =
    useMayEdit() && !isOfOthers && project && (!run || run.outcome) && ['scheduled', 'failed'].includes(task.status)
  return (
    <>
      {run && <Running run={run} />}
      {mayStart && (
        <Panel title="Run an agent">
          <div class="body">
            <ModelForm
              label="Run"
              hint="It writes a draft in this page, and asks before it reads or saves your files. Members of the project see what it writes."
              run={(model) => startRun(task, model, project)}
            />
            {project.description && (
              <details class="small">
                <summary>What it is told of the project</summary>
                <Markdown text={project.description} showsAll hasTools={false} />
              </details>
            )}
          </div>
        </Panel>
      )}
    </>
  )
}
