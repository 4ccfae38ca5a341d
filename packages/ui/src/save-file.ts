/** How long the browser has to begin to save a file. */
const SAVE_MS = 60_000

/** Lets the browser save a text as a file. @param type its media type, such as `text/csv` */
export function saveFile(name: string, type: string, text: string): void {
  const url = URL.createObjectURL(new Blob([text], { type: `${type};charset=utf-8` }))
  Object.assign(document.createElement('a'), { href: url, download: name }).click()
  setTimeout(() => URL.revokeObjectURL(url), SAVE_MS)
}
