import type { Asked, Guard } from '@turnpike/gateway'
import { mapTexts, refuse } from '@turnpike/gateway'
import { textsIn } from './texts.js'

/** E-mail addresses, and numbers of cards, accounts and telephones. */
const personal =
  /\b[\w.+-]{1,64}@[\w-]{1,63}(?:\.[\w-]{1,63}){1,4}|\b[A-Z]{2}\d{2}(?: ?\w{4}){3,7}\b|\+?\d(?:[ ()-]?\d){8,15}/g

/** The same in names and ids, which nothing can replace; long numbers within an id are none. */
const fixed = /[\w.+-]@[\w-]{1,63}\.\w|\b[A-Z]{2}\d{2}(?: ?\w{4}){3,7}\b|(?<![\w-])\+?\d(?:[ ()-]?\d){8,15}(?![\w-])/

const isUrl = /^https?:\S+$/

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
    const { task, request } = asked
    if (task === 'chat') {
      // All but whom it is for, and from: limits of end users go by their names.
      const { model, provider, user, ...texts } = request
      const clean = mapTexts(texts, hide)
      for (const text of textsIn(clean))
        if (fixed.test(text) && !isUrl.test(text))
          throw refuse('This request has personal data in a name or an id, where nothing can replace it')
      return { request: { ...clean, model, provider, user } }
    }
    if (task === 'embeddings') return { request: { ...request, input: mapTexts(request.input, hide) } }
    return undefined
  },
  text: (text, asked) => text.replace(/<PERSONAL_(\d+)>/g, (name, at) => hidden.get(asked)?.[Number(at)] ?? name),
}
