/** A text that this browser keeps; undefined where it has none, or where storage is forbidden. */
export function stored(name: string): string | undefined {
  try {
    return localStorage.getItem(name) ?? undefined
  } catch {
    return undefined
  }
}

/** Keeps a text in this browser, where that is allowed. @param text undefined = forgets it */
export function store(name: string, text: string | undefined): void {
  try {
    if (text === undefined) localStorage.removeItem(name)
    else localStorage.setItem(name, text)
  } catch {
    // What is not kept is asked again.
  }
}
