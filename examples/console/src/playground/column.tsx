import { count, ErrorNotice, Icon, icons } from '@turnpike/ui'
import { Markdown } from '@turnpike/ui/markdown'
import { Thinking } from '../projects/message-parts.js'
import { MOST_CALLS } from './answer.js'
import { Examples } from './examples.js'
import { CallCard } from './messages.js'
import { addMessages, changeColumn, isReady, newMessage, run, bodyFor } from './draft.js'
import { ModelPicker } from './model-picker.js'
import type { Model } from './models.js'
import { lacks } from './models.js'
import type { Column } from './request.js'
import type { Run } from './runs.js'
import { Facts } from './run-facts.js'
import { runOf, stop } from './runs.js'

/** JSON as a block of code, so that it is highlighted. */
const fenced = (text: string): string => `\`\`\`\`json\n${text}\n\`\`\`\``

const finishes: Record<string, string> = {
  length: 'It ends here because it reached the limit of tokens.',
  content_filter: 'The provider’s filter ended it here.',
}

/** An error in words, with what a program is told: the status, type and code. */
function Failure({ error }: { error: unknown }) {
  const { status, code, details } = error as { status?: number; code?: string; details?: { type?: string } }
  const names = [status !== 200 && status, details?.type, code].filter(Boolean)
  return (
    <ErrorNotice error={error}>
      {names.length > 0 && <p class="small muted mono break">{names.join(' · ')}</p>}
    </ErrorNotice>
  )
}

function Answer({ run: { state, body, answer, finish, error } }: { run: Run }) {
  const { text, thinking, calls, hasMoreCalls } = answer
  const isRunning = state === 'running'
  const isJson = body['response_format'] !== undefined && body['response_format'] !== null
  const isEmpty = text === '' && calls.length === 0
  return (
    <div class="answer" aria-busy={isRunning}>
      <Thinking text={thinking} isRunning={isRunning && isEmpty} />
      {text !== '' && <Markdown text={isJson ? fenced(text) : text} isGrowing={isRunning} />}
      {calls.map((call, i) => (
        <CallCard key={i} call={call} />
      ))}
      {hasMoreCalls && <p class="small amber">The model made more calls. Here are the first {count(MOST_CALLS)}.</p>}
      {isRunning && isEmpty && <span class="cursor" aria-hidden="true" />}
      {state === 'done' && isEmpty && <p class="muted">The model said nothing.</p>}
      {finish !== undefined && finishes[finish] && <p class="small amber">{finishes[finish]}</p>}
      {state === 'stopped' && <p class="small amber">You stopped it here. What came of it may be billed.</p>}
      {state === 'failed' && <Failure error={error} />}
    </div>
  )
}

/** Puts an answer into the messages, and what is to follow it: results of its calls, or another question. */
function goOn({ text, calls }: Run['answer']): void {
  addMessages(
    newMessage({ role: 'assistant', text, calls }),
    ...(calls.length > 0 ? calls.map(({ id }) => newMessage({ role: 'tool', callId: id })) : [newMessage()]),
  )
}

const states = {
  running: 'answering.',
  done: 'The answer is complete.',
  stopped: 'Stopped.',
  failed: 'The request failed.',
}

/** A model, its answer, and what that cost. */
export function ColumnView({
  column,
  models,
  name,
  onRemove,
  onCode,
  onPrompt,
}: {
  column: Column
  models: readonly Model[]
  /** What it is called: `Model 1`. */
  name: string
  /** Absent for the only one. */
  onRemove: (() => void) | undefined
  onCode: (body: Run['body']) => void
  /** Called when something was put into the messages. */
  onPrompt: () => void
}) {
  const { id, model, provider } = column
  const shown = runOf(id).value
  const isRunning = shown?.state === 'running'
  const listed = models.filter((one) => one.id === model)
  const members = listed.flatMap((one) => one.members ?? []).map((member) => member.split('/', 1)[0]!)
  const providers = [...new Set(members.length > 0 ? members : listed.map((one) => one.provider))]
  const options =
    provider === '' || provider === 'auto' || providers.includes(provider) ? providers : [...providers, provider]
  const lack = isReady.value
    ? lacks(
        listed.find((one) => !one.members),
        bodyFor(column),
      )
    : undefined
  const hasAnswer = shown && shown.state !== 'running' && (shown.answer.text !== '' || shown.answer.calls.length > 0)
  return (
    <>
      <header>
        <div class="named">
          <ModelPicker
            label={`${name}: model`}
            value={model}
            models={models}
            onChoose={(chosen, from) => changeColumn(id, { model: chosen, provider: from ?? '' })}
          />
          {onRemove && (
            <button type="button" class="quiet" aria-label={`Remove ${name}`} title="Remove" onClick={onRemove}>
              <Icon icon={icons.Close} />
            </button>
          )}
        </div>
        <div class="named">
          <select
            aria-label={`${name}: provider`}
            value={provider}
            onChange={(event) => changeColumn(id, { provider: event.currentTarget.value })}
          >
            <option value="">Any provider</option>
            <option value="auto">The cheapest</option>
            {options.map((one) => (
              <option key={one} value={one}>
                Only {one}
              </option>
            ))}
          </select>
          <button
            type="button"
            aria-disabled={!isRunning && (!isReady.value || model === '')}
            onClick={() => (isRunning ? stop(id) : void run([column]))}
          >
            <Icon icon={isRunning ? icons.Stop : icons.Run} size={14} />
            {isRunning ? 'Stop' : 'Run'}
          </button>
        </div>
        {lack !== undefined && <p class="small amber">{lack}</p>}
      </header>
      <div class="column-body" role="region" aria-label={`${name}: answer`} tabIndex={0}>
        {shown ? <Answer run={shown} /> : <Examples onChoose={onPrompt} />}
        {hasAnswer && (
          <div class="row">
            <button
              type="button"
              class="quiet"
              onClick={() => {
                goOn(shown.answer)
                onPrompt()
              }}
            >
              Go on from here
            </button>
            <button type="button" class="quiet" onClick={() => onCode(shown.body)}>
              Code
            </button>
          </div>
        )}
      </div>
      {shown && <Facts run={shown} />}
      <p class="visually-hidden" role="status">
        {shown && `${model}: ${states[shown.state]}`}
      </p>
    </>
  )
}
