import type { Asked, Guard } from '@turnpike/gateway'
import { mapTexts, refuse } from '@turnpike/gateway'
import { textsIn } from './texts.js'

/** E-mail addresses (RFC 5321: at most 64 characters before the `@`), and numbers of cards, accounts and telephones. All are short: an answer may say them often. */
const personal =
  /(?<![\p{L}\p{N}_.+-])[\p{L}\p{N}_.+-]{1,64}@[\p{L}\p{N}-]{1,63}(?:\.[\p{L}\p{N}-]{1,63}){1,4}|\b[A-Z]{2}\d{2}(?: ?\w{4}){3,7}\b|\+?\d(?:[\s()./-]?\d){8,15}/gu

/** The same in names and ids, which nothing can replace; long numbers within an id are none. */
const fixed =
  /[\p{L}\p{N}_.+-]@[\p{L}\p{N}-]{1,63}\.[\p{L}\p{N}]|\b[A-Z]{2}\d{2}(?: ?\w{4}){3,7}\b|(?<![\w-])\+?\d(?:[\s()./-]?\d){8,15}(?![\w-])/u

const isUrl = /^https?:\S+$/

/** Files are often called by names; what tells the format is behind the last dot. */
const unnamed = <File extends { name: string }>(file: File): File => ({
  ...file,
  name: `audio${/\.\w{1,5}$/.exec(file.name)?.[0] ?? ''}`,
})

/** The data of each request, whose place in it is the number of its name. */
const hidden = new WeakMap<Asked, string[]>()

/** Sends names in place of personal data to providers, and puts the data back into their answers. */
export const redact: Guard = {
  name: 'redact',
  request(asked) {
    const found: string[] = []
    const numbers = new Map<string, number>()
    hidden.set(asked, found)
    const hide = (text: string): string =>
      text.replace(personal, (value) => {
        const number = numbers.get(value) ?? found.push(value) - 1
        numbers.set(value, number)
        return `<PERSONAL_${number}>`
      })
    if (asked.task === 'speech') {
      // What is spoken cannot be put back.
      if (hide(`${asked.request.input} ${asked.request.instructions ?? ''}`) && found.length > 0)
        throw refuse('This request has personal data, which would be spoken')
      return undefined
    }
    // All but whom it is for, and from: limits of end users go by their names.
    const { model, provider, user, file: _, ...texts } = asked.request as Record<string, unknown>
    const clean = mapTexts(texts, hide)
    for (const text of textsIn(clean))
      if (fixed.test(text) && !isUrl.test(text))
        throw refuse('This request has personal data in a name or an id, where nothing can replace it')
    const file = asked.task === 'transcription' && { file: unnamed(asked.request.file) }
    return { request: { ...clean, model, provider, user, ...file } as Asked['request'] }
  },
  text: (text, asked) => text.replace(/<PERSONAL_(\d+)>/g, (name, at) => hidden.get(asked)?.[Number(at)] ?? name),
}
