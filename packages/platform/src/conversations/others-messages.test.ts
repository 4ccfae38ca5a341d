import { createUser, memoryKV } from '@turnpike/core'
import { expect, it } from 'vitest'
import type { ReplyRequest } from './responder.js'
import { createPlatform } from '../platform.js'

it('threat 204: a reply is made from 100,000 characters of what others have sent, and all of one’s own', async () => {
  const kv = await memoryKV()
  const [ada, eve] = await Promise.all(['ada', 'eve'].map((name) => createUser(kv, { email: `${name}@example.org` })))
  const asked: ReplyRequest[] = []
  const platform = createPlatform({
    kv,
    identity: { authenticate: () => null },
    async *responder(request) {
      asked.push(request)
      yield { id: 'r', object: 'chat.completion.chunk', created: 1, model: 'm', choices: [] } as never
    },
  })
  const { projects, members, conversations } = platform.operations
  const { id } = await projects.create(ada!.id, { name: 'P' })
  const person = (user: typeof eve) => ({ id: user!.id, email: user!.email })
  const member = await members.set(person(ada), id, { email: eve!.email!, role: 'editor' })
  await members.accept(person(eve), id, member.id)
  const texts = [
    [eve, 'a'],
    [ada, 'b'],
    [eve, 'c'],
    [eve, 'd'],
  ] as const
  for (const [user, letter] of texts) await conversations.send(user!.id, id, { text: letter.repeat(45_000) })
  const askedBy = async (user: typeof ada): Promise<string> => {
    const { chunks } = await conversations.reply(user!, id, { message: { text: 'Well?' } })
    for await (const _ of chunks);
    return asked
      .at(-1)!
      .messages.map(({ content }) => (content as string)[0])
      .join('')
  }
  expect(await askedBy(ada)).toBe('[bcdW')
  expect(await askedBy(eve)).toBe('abcdWW')
})
