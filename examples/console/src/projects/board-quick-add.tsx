import { ErrorNotice, useAction } from '@turnpike/ui'
import { useEffect, useRef } from 'preact/hooks'

/** Makes tasks of titles: Enter makes one, and the next can be typed; Esc closes. */
export function QuickAdd({ add, onClose }: { add: (title: string) => Promise<unknown>; onClose: () => void }) {
  const field = useRef<HTMLInputElement>(null)
  const { run, busy, error } = useAction(async () => {
    const title = field.current!.value.trim()
    if (title === '') return
    await add(title)
    if (field.current?.value.trim() === title) field.current.value = ''
  })
  useEffect(() => field.current!.focus(), [])
  return (
    <form
      class="quick-add stack"
      onSubmit={(event) => {
        event.preventDefault()
        run()
      }}
    >
      <input
        ref={field}
        aria-label="Title of the new task"
        placeholder="Title, then Enter"
        maxLength={1000}
        autocomplete="off"
        aria-busy={busy}
        onKeyDown={(event) => event.key === 'Escape' && onClose()}
      />
      <ErrorNotice error={error} />
    </form>
  )
}
