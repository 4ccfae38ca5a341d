import { computed, effect } from '@preact/signals'
import { kept } from '../kept.js'
import { forget, isRunning, start, stop } from './runs.js'
import type { Body, Column, Draft, DraftMessage } from './request.js'
import { bodyOf, faultsOf } from './request.js'

/** Milliseconds without a change after which what is typed is kept. */
const KEEP_MS = 400

/** Most models side by side, and most presets. */
export const MOST_COLUMNS = 3
const MOST_PRESETS = 20

export const newMessage = (fields: Partial<DraftMessage> = {}): DraftMessage => ({
  id: crypto.randomUUID(),
  role: 'user',
  text: '',
  pictures: [],
  calls: [],
  callId: '',
  ...fields,
})

const newColumn = (fields: Partial<Column> = {}): Column => ({
  id: crypto.randomUUID(),
  model: '',
  provider: '',
  ...fields,
})

const empty = (): Draft => ({
  system: '',
  messages: [newMessage()],
  columns: [newColumn()],
  parameters: {},
  stream: true,
  tools: '',
  format: 'text',
  schema: '',
})

const stored = kept('playground', empty)

/** What is typed. */
export const draft = stored.value

/** Drafts by name. */
const presets = kept<{ list: readonly { name: string; draft: Draft }[] }>('playground-presets', () => ({ list: [] }))
export const presetList = computed(() => presets.value.value.list)

const withoutUploads = (draft: Draft): Draft => ({
  ...draft,
  messages: draft.messages.map((one) => ({ ...one, pictures: one.pictures.filter((url) => !url.startsWith('data:')) })),
})

function keep(): void {
  try {
    stored.keep()
  } catch {
    try {
      // Pictures are large.
      stored.keep(withoutUploads(draft.peek()))
    } catch {
      // Storage may be full, or forbidden: then a reload forgets what was typed last.
    }
  }
}
let timer: ReturnType<typeof setTimeout> | undefined
const keepNow = (): void => {
  if (timer !== undefined) keep()
  clearTimeout(timer)
  timer = undefined
}
effect(() => {
  void draft.value
  clearTimeout(timer)
  timer = setTimeout(keepNow, KEEP_MS)
})
addEventListener('pagehide', keepNow)

export const change = (fields: Partial<Draft>): void => void (draft.value = { ...draft.value, ...fields })

const changeMessages = (to: (messages: readonly DraftMessage[]) => readonly DraftMessage[]): void =>
  change({ messages: to(draft.value.messages) })

export const changeMessage = (id: string, fields: Partial<DraftMessage>): void =>
  changeMessages((all) => all.map((one) => (one.id === id ? { ...one, ...fields } : one)))

export const addMessages = (...added: DraftMessage[]): void => changeMessages((all) => [...all, ...added])

export const removeMessage = (id: string): void => changeMessages((all) => all.filter((one) => one.id !== id))

export const changeColumn = (id: string, fields: Partial<Column>): void =>
  change({ columns: draft.value.columns.map((one) => (one.id === id ? { ...one, ...fields } : one)) })

/** Adds a column, which asks the same model until another is chosen. */
export const addColumn = (): void =>
  change({ columns: [...draft.value.columns, newColumn({ model: draft.value.columns.at(-1)!.model })] })

export function removeColumn(id: string): void {
  forget(id)
  change({ columns: draft.value.columns.filter((one) => one.id !== id) })
}

/** What keeps the draft from being sent. */
export const faults = computed(() => faultsOf(draft.value))
export const isReady = computed(() => Object.keys(faults.value).length === 0)

/** Whether nothing is typed but parameters. */
export const isBlank = computed(() => {
  const { system, messages, tools } = draft.value
  return system === '' && tools === '' && messages.every(({ text, pictures }) => text === '' && pictures.length === 0)
})

/** The request to a model, where the draft can be sent. */
export const bodyFor = (column: Column): Body => bodyOf(draft.value, column)

/** Whether a model is being asked. */
export const isAnyRunning = computed(() => draft.value.columns.some(({ id }) => isRunning(id)))

/** Asks the models of these columns that are not asked already. @returns whether the draft can be sent */
export function run(columns: readonly Column[]): boolean {
  if (!isReady.value) return false
  for (const column of columns) if (column.model !== '' && !isRunning(column.id)) void start(column.id, bodyFor(column))
  return true
}

export const stopAll = (): void => draft.value.columns.forEach(({ id }) => stop(id))

function replace(next: Draft): void {
  for (const { id } of draft.value.columns) forget(id)
  draft.value = next
}

/** Empties everything but the models. */
export const reset = (): void =>
  replace({ ...empty(), columns: draft.value.columns.map(({ model, provider }) => newColumn({ model, provider })) })

/** Shows a preset in place of what is typed. */
export const load = (preset: Draft): void =>
  replace({ ...preset, columns: preset.columns.map(({ model, provider }) => newColumn({ model, provider })) })

/** Changes the presets that are kept, among which are those of other tabs. @throws Error where there is no room */
function changePresets(to: (list: typeof presetList.value) => typeof presetList.value): void {
  presets.read()
  const list = to(presetList.value)
  try {
    presets.keep({ list })
  } catch {
    throw new Error('The browser has no room for it. Remove pictures or presets, and try again.')
  }
  presets.value.value = { list }
}

/** Keeps what is typed by a name, in place of what had it. @throws Error where there is no room */
export const savePreset = (name: string): void =>
  changePresets((list) => {
    const others = list.filter((one) => one.name !== name)
    if (others.length >= MOST_PRESETS) throw new Error(`There are ${MOST_PRESETS} presets. Delete one first.`)
    return [...others, { name, draft: draft.value }].toSorted((a, b) => a.name.localeCompare(b.name))
  })

export const deletePreset = (name: string): void => changePresets((list) => list.filter((one) => one.name !== name))
