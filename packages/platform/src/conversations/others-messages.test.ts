import { expect, it } from 'vitest'
import { sharedProject } from '../../../../test/support/shared-project.js'
import type { ReplyRequest } from './responder.js'
import { withoutMoreOfOthers } from './others-messages.js'

it('threat 204: a reply is made from 100,000 characters of what others have sent, and all of one’s own', async () => {
  const asked: ReplyRequest[] = []
  const { platform, ada, eve, id } = await sharedProject({
    async *responder(request) {
      asked.push(request)
      yield { id: 'r', object: 'chat.completion.chunk', created: 1, model: 'm', choices: [] } as never
    },
  })
  const { conversations } = platform.operations
  const texts = [
    [eve, 'a'],
    [ada, 'b'],
    [eve, 'c'],
    [eve, 'd'],
  ] as const
  for (const [user, letter] of texts) await conversations.send(user.id, id, { text: letter.repeat(45_000) })
  const askedBy = async (user: typeof ada): Promise<string> => {
    const { chunks } = await conversations.reply(user, id, { message: { text: 'Well?' } })
    for await (const _ of chunks);
    return asked
      .at(-1)!
      .messages.map(({ content }) => (content as string)[0])
      .join('')
  }
  expect(await askedBy(ada)).toBe('[bcdW')
  expect(await askedBy(eve)).toBe('abcdWW')
})

it('threat 204: files of others count as what models read of them, and so do replies to them', () => {
  const file = (mime_type: string, size_bytes: number) => ({ id: 'f', display_name: 'f', mime_type, size_bytes })
  const of = (text: string, ...attachments: ReturnType<typeof file>[]) => ({ text, attachments })
  const leftOf = (most: number, ...messages: ReturnType<typeof of>[]) =>
    withoutMoreOfOthers(messages, ({ text }) => text !== 'own', most).map(({ text, attachments }) =>
      text.startsWith('[A message') ? attachments : text,
    )
  const left = (...messages: ReturnType<typeof of>[]) => leftOf(40_000, ...messages)
  const [picture, pdf, csv] = [file('image/png', 5e6), file('application/pdf', 390_000), file('text/csv', 39_948)]
  const thousandPages = file('application/pdf', 9_500)
  expect(left(of('a', csv))).toEqual(['a'])
  expect(left(of('own', csv, csv), of('ab', csv), of('own', pdf))).toEqual(['own', undefined, 'own'])
  const sevenPictures = Array(7).fill(picture) as (typeof picture)[]
  expect(left(of('a', ...sevenPictures), of('b', picture))).toEqual([undefined, 'b'])
  expect(leftOf(100_000, of('a', thousandPages), of('b', thousandPages))).toEqual([undefined, 'b'])
  expect(leftOf(100_000, of('a', pdf), of('b', pdf), of('c'))).toEqual([undefined, 'b', 'c'])
})
