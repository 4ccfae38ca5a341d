import './playground.css'
import { useSignal } from '@preact/signals'
import { Confirm, ErrorNotice, Icon, icons, modelToTry, Page, useData } from '@turnpike/ui'
import { useReader } from '@turnpike/ui/markdown'
import { useEffect, useRef, useState } from 'preact/hooks'
import { turnpike } from '../turnpike.js'
import { CodeDialog } from './code-dialog.js'
import { ColumnView } from './column.js'
import {
  addColumn,
  bodyFor,
  change,
  changeColumn,
  draft,
  faults,
  isAnyRunning,
  isReady,
  MOST_COLUMNS,
  removeColumn,
  reset,
  run,
  stopAll,
} from './draft.js'
import { Messages } from './messages.js'
import { PresetsDialog } from './presets-dialog.js'
import type { Body } from './request.js'
import { Settings } from './settings.js'
import type { Part } from './tabs.js'
import { panelOf, Tabs, useNarrow } from './tabs.js'

const isMac = navigator.platform.startsWith('Mac')

/** What is sent, and the button that sends it. */
function Prompt({ onRun }: { onRun: () => void }) {
  const { system, stream } = draft.value
  const fault = faults.value.tools ?? faults.value.schema
  return (
    <>
      <div class="prompt-body stack">
        <label class="stack">
          <h2>System prompt</h2>
          <textarea
            rows={2}
            placeholder="How the model is to answer"
            value={system}
            onInput={(event) => change({ system: event.currentTarget.value })}
          />
        </label>
        <h2>Messages</h2>
        <Messages />
        <Settings />
      </div>
      <footer class="spread">
        <label class="field check">
          <span>Stream</span>
          <input
            type="checkbox"
            checked={stream}
            onChange={(event) => change({ stream: event.currentTarget.checked })}
          />
        </label>
        <div class="row">
          <span id="run-hint" class="small muted">
            {fault ?? (isMac ? '⌘ Enter' : 'Ctrl Enter')}
          </span>
          <button
            type="button"
            class={isAnyRunning.value ? '' : 'primary'}
            aria-describedby="run-hint"
            aria-disabled={!isAnyRunning.value && !isReady.value}
            onClick={isAnyRunning.value ? stopAll : onRun}
          >
            <Icon icon={isAnyRunning.value ? icons.Stop : icons.Run} size={14} />
            {isAnyRunning.value ? 'Stop all' : 'Run'}
          </button>
        </div>
      </footer>
    </>
  )
}

type Open = { name: 'presets' | 'reset' } | { name: 'code'; bodies: readonly Body[] }

/** Asks models, up to three side by side, and shows what they say, how fast and for how much. */
export function Playground() {
  const models = useData(async (signal) => (await turnpike.get('/api/gateway/v1/models', { signal })).data, [])
  const [open, setOpen] = useState<Open | undefined>(undefined)
  const part = useSignal('prompt')
  const isNarrow = useNarrow()
  const prompt = useRef<HTMLElement>(null)
  useReader()
  const { columns } = draft.value
  const known = models.value ?? []

  useEffect(() => {
    if (models.value)
      for (const { id, model } of draft.value.columns)
        if (model === '') changeColumn(id, { model: modelToTry(models.value.map((one) => one.id)) })
  }, [models.value, columns.some(({ model }) => model === '')])
  useEffect(() => {
    if (!columns.some(({ id }) => id === part.value)) part.value = 'prompt'
  }, [columns])

  const runAll = (): void => {
    if (run(columns) && isNarrow) part.value = columns[0]!.id
  }
  const focusLastText = (): void => {
    part.value = 'prompt'
    requestAnimationFrame(() => [...prompt.current!.querySelectorAll<HTMLElement>('.turn textarea')].at(-1)!.focus())
  }
  const focusLastModel = (): void => {
    requestAnimationFrame(() => [...document.querySelectorAll<HTMLElement>('.column [role=combobox]')].at(-1)!.focus())
  }
  const parts: Part[] = [['prompt', 'Prompt'], ...columns.map(({ id, model }) => [id, model || 'No model'] as const)]

  const adder = (
    <button
      type="button"
      class={isNarrow ? 'quiet' : ''}
      aria-label="Add model"
      aria-disabled={columns.length >= MOST_COLUMNS}
      onClick={() => {
        if (columns.length >= MOST_COLUMNS) return
        addColumn()
        part.value = draft.value.columns.at(-1)!.id
        focusLastModel()
      }}
    >
      <Icon icon={icons.New} />
      {!isNarrow && 'Add model'}
    </button>
  )

  return (
    <Page
      title="Playground"
      actions={
        <div class="row">
          <button type="button" class="quiet" onClick={() => setOpen({ name: 'presets' })}>
            Presets
          </button>
          <button type="button" class="quiet" onClick={() => setOpen({ name: 'reset' })}>
            Reset
          </button>
          <button
            type="button"
            class="quiet"
            aria-disabled={!isReady.value}
            onClick={() => isReady.value && setOpen({ name: 'code', bodies: columns.map(bodyFor) })}
          >
            <Icon icon={icons.Code} />
            View code
          </button>
          {!isNarrow && adder}
        </div>
      }
    >
      <ErrorNotice error={models.error} again={models.again} />
      <div
        class="playground"
        onKeyDownCapture={(event) => {
          if (event.key !== 'Enter' || !(event.ctrlKey || event.metaKey) || event.isComposing) return
          event.preventDefault()
          runAll()
        }}
      >
        {isNarrow && (
          <div class="parts">
            <Tabs parts={parts} value={part.value} onChange={(id) => (part.value = id)} />
            {adder}
          </div>
        )}
        <section ref={prompt} class="prompt" {...panelOf('prompt', 'Prompt', isNarrow, part.value)}>
          <Prompt onRun={runAll} />
        </section>
        <div class="answers">
          {columns.map((column, i) => (
            <section key={column.id} class="column" {...panelOf(column.id, `Model ${i + 1}`, isNarrow, part.value)}>
              <ColumnView
                column={column}
                models={known}
                name={`Model ${i + 1}`}
                onRemove={
                  columns.length > 1
                    ? () => {
                        removeColumn(column.id)
                        focusLastModel()
                      }
                    : undefined
                }
                onCode={(body) => setOpen({ name: 'code', bodies: [body] })}
                onPrompt={focusLastText}
              />
            </section>
          ))}
        </div>
      </div>
      {open?.name === 'code' && <CodeDialog bodies={open.bodies} onClose={() => setOpen(undefined)} />}
      {open?.name === 'presets' && <PresetsDialog onClose={() => setOpen(undefined)} />}
      {open?.name === 'reset' && (
        <Confirm title="Empty the playground?" action="Empty it" onConfirm={reset} onClose={() => setOpen(undefined)}>
          <p>The prompt, its settings and the answers are removed. Models and presets stay.</p>
        </Confirm>
      )}
    </Page>
  )
}
