import type { MailMessage } from './mailer.js'

/** What a message says. */
export interface MailText {
  subject: string
  /** Paragraphs before the link. */
  before: string[]
  /** Absent = none. */
  link?: { name: string; url: string }
  /** Paragraphs after it. */
  after: string[]
}

const entities: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&#39;' }
const escaped = (text: string): string => text.replace(/[&<>"']/g, (character) => entities[character]!)

const paragraph = (text: string): string => `<p>${escaped(text)}</p>`

const BUTTON =
  'display: inline-block; padding: 10px 18px; border-radius: 8px; background: #1d4ed8; color: #ffffff; text-decoration: none'

const linkOf = ({ name, url }: { name: string; url: string }): string[] => [
  `<p><a href="${escaped(url)}" style="${BUTTON}">${escaped(name)}</a></p>`,
  `<p>Or open this address:<br><a href="${escaped(url)}" style="word-break: break-all">${escaped(url)}</a></p>`,
]

/** The message of a text, as plain text and as HTML, in which nothing of the text is markup. */
export function messageOf(to: string, { subject, before, link, after }: MailText): MailMessage {
  const text = [...before, ...(link ? [`${link.name}:\n${link.url}`] : []), ...after].join('\n\n')
  const body = [...before.map(paragraph), ...(link ? linkOf(link) : []), ...after.map(paragraph)]
  const html = `<!doctype html>
<html lang="en">
<head><meta charset="utf-8"><meta name="color-scheme" content="light dark"><title>${escaped(subject)}</title></head>
<body style="max-width: 36em; margin: 0 auto; padding: 24px; font: 16px/1.5 system-ui, sans-serif">
${body.join('\n')}
</body>
</html>
`
  return { to, subject, text: `${text}\n`, html }
}
