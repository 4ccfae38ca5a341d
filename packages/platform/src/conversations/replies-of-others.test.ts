import { createUser, memoryKV } from '@turnpike/core'
import { ownedKey } from '@turnpike/core/internal'
import { expect, it } from 'vitest'
import { createPlatform } from '../platform.js'

it('threat 175: replies that an editor asks for at once leave the owner a part of the space', async () => {
  const kv = await memoryKV()
  const [ada, eve] = await Promise.all(['ada', 'eve'].map((name) => createUser(kv, { email: `${name}@example.org` })))
  let go!: () => void
  const gone = new Promise<void>((resolve) => (go = resolve))
  const chunk = (content: string) =>
    ({ id: 'r', object: 'chat.completion.chunk', created: 1, model: 'm', choices: [{ delta: { content } }] }) as never
  const platform = createPlatform({
    kv,
    identity: { authenticate: () => null },
    planLimits: { dataGb: 0.04 },
    async *responder() {
      yield chunk('A')
      await gone
      for (let i = 0; i < 10; i++) yield chunk('x'.repeat(100_000))
    },
  })
  const { projects, members, conversations } = platform.operations
  const { id } = await projects.create(ada!.id, { name: 'P' })
  const person = (user: typeof eve) => ({ id: user!.id, email: user!.email })
  const member = await members.set(person(ada), id, { email: eve!.email!, role: 'editor' })
  await members.accept(person(eve), id, member.id)
  // What an editor may use is 36 MB, and a reply may have 3 MB.
  for (let i = 0; i < 20; i++) await conversations.send(eve!.id, id, { text: 'x'.repeat(1_000_000) })
  const replies = []
  for (let i = 0; i < 5; i++) replies.push(await conversations.reply(eve!, id, { message: { text: 'More' } }))
  await expect(conversations.reply(eve!, id, { message: { text: 'More' } })).rejects.toThrow('bytes of data')
  const own = await conversations.reply(ada!, id, { message: { text: 'And I?' } })
  go()
  for (const { chunks } of [...replies, own]) for await (const _ of chunks);
  expect((await kv.get<{ bytes: number }>(ownedKey(ada!.id)))!.value.bytes).toBeLessThan(36_000_000)
})
