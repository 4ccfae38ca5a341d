import { Icon, icons, indented } from '@turnpike/ui'
import { CodeBlock } from '@turnpike/ui/markdown/code'
import { useRef, useState } from 'preact/hooks'
import { addMessages, changeMessage, draft, newMessage, removeMessage } from './draft.js'
import { Pictures } from './pictures.js'
import { pictureFiles, urlOf } from './picture-files.js'
import type { Call, DraftMessage } from './request.js'
import { roles } from './request.js'

const roleNames = { user: 'User', assistant: 'Assistant', system: 'System', tool: 'Tool' }

/** A call of a function. */
export function CallCard({ call: { id, name, arguments: given } }: { call: Call }) {
  let shown = given
  try {
    shown = indented(given)
  } catch {
    // It is not whole yet, or the model erred.
  }
  return (
    <div class="call">
      <div class="row small">
        <Icon icon={icons.Tool} size={14} />
        <b class="break">{name}</b>
        <span class="muted mono break">{id}</span>
      </div>
      {shown !== '' && (
        <div class="markdown">
          <CodeBlock code={shown} language="json" />
        </div>
      )}
    </div>
  )
}

function MessageEditor({ message, name, onRemove }: { message: DraftMessage; name: string; onRemove: () => void }) {
  const { id, role, text, pictures, calls, callId } = message
  const [isAdding, setAdding] = useState(false)
  const addFiles = async (files: readonly File[]): Promise<void> => {
    const urls = await Promise.all(files.map(urlOf))
    const now = draft.value.messages.find((one) => one.id === id)
    if (now) changeMessage(id, { pictures: [...now.pictures, ...urls] })
  }
  const take = (event: Event, data: DataTransfer | null): void => {
    const files = role === 'user' ? pictureFiles(data) : []
    if (files.length === 0) return
    event.preventDefault()
    void addFiles(files)
  }
  return (
    <li class="turn" data-message={id}>
      <div class="spread">
        <select
          aria-label={`Role of ${name}`}
          value={role}
          onChange={(event) => changeMessage(id, { role: event.currentTarget.value as DraftMessage['role'] })}
        >
          {roles.map((one) => (
            <option key={one} value={one}>
              {roleNames[one]}
            </option>
          ))}
        </select>
        <div class="row">
          {role === 'user' && (
            <button
              type="button"
              class="quiet"
              aria-label={`Add a picture to ${name}`}
              title="Add a picture"
              aria-expanded={isAdding}
              onClick={() => setAdding(!isAdding)}
            >
              <Icon icon={icons.Picture} />
            </button>
          )}
          <button type="button" class="quiet" aria-label={`Remove ${name}`} title="Remove" onClick={onRemove}>
            <Icon icon={icons.Remove} />
          </button>
        </div>
      </div>
      {role === 'tool' && (
        <input
          aria-label={`Call that ${name} answers`}
          placeholder="Id of the call"
          class="mono"
          value={callId}
          onInput={(event) => changeMessage(id, { callId: event.currentTarget.value })}
        />
      )}
      <textarea
        aria-label={name}
        rows={3}
        placeholder={role === 'user' ? 'Ask something' : role === 'tool' ? 'What the tool returned' : ''}
        value={text}
        onInput={(event) => changeMessage(id, { text: event.currentTarget.value })}
        onPaste={(event) => take(event, event.clipboardData)}
        onDrop={(event) => take(event, event.dataTransfer)}
      />
      {role === 'user' && (
        <Pictures
          pictures={pictures}
          isAdding={isAdding}
          onFiles={(files) => void addFiles(files)}
          onChange={(changed) => changeMessage(id, { pictures: changed })}
        />
      )}
      {role === 'assistant' && calls.map((call) => <CallCard key={call.id} call={call} />)}
    </li>
  )
}

/** The messages of the request, to be added, changed and removed. */
export function Messages() {
  const list = useRef<HTMLOListElement>(null)
  const add = useRef<HTMLButtonElement>(null)
  const { messages } = draft.value
  const focus = (id: string): void => {
    // Once it is there.
    requestAnimationFrame(() => list.current?.querySelector<HTMLElement>(`[data-message="${id}"] textarea`)?.focus())
  }
  const remove = (at: number): void => {
    removeMessage(messages[at]!.id)
    const next = messages[at + 1] ?? messages[at - 1]
    if (next) focus(next.id)
    else add.current!.focus()
  }
  return (
    <>
      <ol ref={list} class="turns" aria-label="Messages">
        {messages.map((message, i) => (
          <MessageEditor key={message.id} message={message} name={`Message ${i + 1}`} onRemove={() => remove(i)} />
        ))}
      </ol>
      <div>
        <button
          ref={add}
          type="button"
          onClick={() => {
            // Users and assistants take turns.
            const message = newMessage({ role: messages.at(-1)?.role === 'user' ? 'assistant' : 'user' })
            addMessages(message)
            focus(message.id)
          }}
        >
          <Icon icon={icons.New} />
          Add message
        </button>
      </div>
    </>
  )
}
