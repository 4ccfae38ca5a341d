import { signal } from '@preact/signals'
import { namesOf, setSingleKeys, shortcuts, singleKeys, useShortcut } from '../shortcuts.js'
import { Check } from './controls.js'
import { Dialog } from './dialog.js'

/** The keys of a shortcut, as they are on the keyboard. Screen readers hear them where they are not the name of a button. */
export const KeyCaps = ({ keys }: { keys: string }) => (
  <span class="keys">
    {namesOf(keys).map((name, i) => (
      <kbd key={i}>{name}</kbd>
    ))}
  </span>
)

const isShown = signal(false)

/** Lists the shortcuts. */
export const showShortcuts = (): void => void (isShown.value = true)

/** The shortcuts of what is shown, and whether single keys are any: where `?` or {@link showShortcuts} asks for them. */
export function ShortcutList() {
  useShortcut('?', 'Show shortcuts', showShortcuts)
  if (!isShown.value) return null
  // Where two have the same keys, the later one is run.
  const byKeys = new Map(shortcuts.value.map((one) => [one.keys, one]))
  return (
    <Dialog title="Keyboard shortcuts" form="box" onClose={() => (isShown.value = false)}>
      <dl class="shortcuts">
        {[...byKeys.values()].map(({ keys, name }) => (
          <div key={keys} class="spread">
            <dt>{name}</dt>
            <dd>
              <KeyCaps keys={keys} />
            </dd>
          </div>
        ))}
      </dl>
      <Check label="Shortcuts without Ctrl or ⌘" checked={singleKeys.value} onChange={setSingleKeys} />
    </Dialog>
  )
}
