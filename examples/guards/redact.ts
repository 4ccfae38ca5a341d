import type { Asked, Guard } from '@turnpike/gateway'
import { mapTexts } from '@turnpike/gateway'

/** E-mail addresses, and numbers of cards, accounts and telephones. */
const personal =
  /\b[\w.+-]{1,64}@[\w-]{1,63}(?:\.[\w-]{1,63}){1,4}|\b[A-Z]{2}\d{2}(?: ?\w{4}){3,7}\b|\+?\d(?:[ ()-]?\d){8,15}/g

/** The data of each request, whose place in it is the number of its name. */
const hidden = new WeakMap<Asked, string[]>()

/** Sends names in place of personal data to providers, and puts the data back into their answers. */
export const redact: Guard = {
  name: 'redact',
  request(asked) {
    const found: string[] = []
    hidden.set(asked, found)
    const hide = (text: string): string =>
      text.replace(personal, (value) => {
        if (!found.includes(value)) found.push(value)
        return `<PERSONAL_${found.indexOf(value)}>`
      })
    const { task, request } = asked
    if (task === 'chat') {
      // All but whom it is for, and from: limits of end users go by their names.
      const { model, provider, user, ...texts } = request
      return { request: { ...mapTexts(texts, hide), model, provider, user } }
    }
    if (task === 'embeddings') return { request: { ...request, input: mapTexts(request.input, hide) } }
    return undefined
  },
  text: (text, asked) => text.replace(/<PERSONAL_(\d+)>/g, (name, at) => hidden.get(asked)?.[Number(at)] ?? name),
}
