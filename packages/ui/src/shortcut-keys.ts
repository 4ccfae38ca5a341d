/** Whether keyboards of this machine have ⌘ where others have Ctrl. */
export const isApple = (platform: string): boolean => /^(Mac|iP)/.test(platform)

/** What of a keyboard event tells which key is pressed. */
export type Pressed = Pick<KeyboardEvent, 'key' | 'ctrlKey' | 'metaKey' | 'altKey' | 'shiftKey'>

/** A key as shortcuts write it: `g`, `?`, `Escape`, or with ⌘ or Ctrl `mod+k`. Undefined with any other modifier. */
export function keyOf({ key, ctrlKey, metaKey, altKey, shiftKey }: Pressed, apple: boolean): string | undefined {
  if (altKey || (apple ? ctrlKey : metaKey)) return undefined
  const isMod = apple ? metaKey : ctrlKey
  // Caps Lock makes no other key.
  const plain = key.length === 1 && (isMod || !shiftKey) ? key.toLowerCase() : key
  return isMod ? `mod+${plain}` : plain
}

/**
 * What a key does after those that were pressed just before.
 * @param before those, such as `g`; '' = none
 * @param all the keys of each shortcut, of which the last one wins
 * @returns the index of the shortcut, or what has been pressed so far where it begins one
 */
export function afterKey(key: string, before: string, all: readonly string[]): { index: number } | { begun: string } {
  for (const pressed of before === '' ? [key] : [`${before} ${key}`, key]) {
    const index = all.lastIndexOf(pressed)
    if (index !== -1) return { index }
    if (all.some((keys) => keys.startsWith(`${pressed} `))) return { begun: pressed }
  }
  return { begun: '' }
}

/** The keys of a shortcut as keyboards name them: `mod+k` as `Ctrl` and `K`. */
export const keyNames = (keys: string, apple: boolean): string[] =>
  keys.split(/[ +]/).map((key) => (key === 'mod' ? (apple ? '⌘' : 'Ctrl') : key.length === 1 ? key.toUpperCase() : key))
