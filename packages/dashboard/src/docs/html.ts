/** The key of what is HTML already. JSON has no symbols, so that no value of a document can pass for it. */
const markup = Symbol('markup')

/** HTML, as `html` makes it. */
export interface Html {
  readonly [markup]: string
}

/** What a template can contain: HTML stays as it is, text is escaped, and false, null and undefined are nothing. */
export type Value = Html | string | number | false | null | undefined | readonly Value[]

const entities: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&#39;' }

function textOf(value: Value): string {
  if (value === false || value === null || value === undefined) return ''
  if (Array.isArray(value)) return value.map(textOf).join('')
  if (typeof value === 'object' && markup in value) return value[markup]
  return String(value).replace(/[&<>"']/g, (found) => entities[found]!)
}

/**
 * HTML from a template. This is the one place where text becomes HTML: every value is escaped for content and for quoted attributes.
 * @example html`<a href="${link}">${name}</a>`
 */
export const html = (strings: TemplateStringsArray, ...values: readonly Value[]): Html => ({
  // The source is indented for its readers only.
  [markup]: strings.map((text, i) => text.replaceAll(/\n\s*/g, '\n') + textOf(values[i])).join(''),
})

/** A sentence, in which `code` stands between backticks. */
export const prose = (text = ''): Html =>
  html`${text.split('`').map((part, i) => (i % 2 === 1 ? html`<code>${part}</code>` : part))}`

/** The text of a page. */
export const print = (content: Html): string => content[markup]
