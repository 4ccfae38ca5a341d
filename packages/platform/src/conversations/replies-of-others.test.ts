import { createUser, memoryKV } from '@turnpike/core'
import { ownedKey } from '@turnpike/core/internal'
import { unstorageBlobs } from '@turnpike/storage/blobs'
import { expect, it } from 'vitest'
import { mapDriver } from '../../../../test/support/map-driver.js'
import { createPlatform } from '../platform.js'
import type { ReplyRequest } from './responder.js'

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

it('threat 210: files of somebody who is no member any more are in no reply', async () => {
  const kv = await memoryKV()
  const [ada, eve] = await Promise.all(['ada', 'eve'].map((name) => createUser(kv, { email: `${name}@example.org` })))
  const asked: ReplyRequest[] = []
  let userId = ada!.id
  const platform = createPlatform({
    kv,
    identity: { authenticate: () => ({ userId, via: 'custom' as const }) },
    files: { blobs: unstorageBlobs(mapDriver<string | Uint8Array>().driver) },
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
  const sendWithFile = async (user: typeof eve) => {
    userId = user!.id
    const form = new FormData()
    form.set('file', new File(['%PDF-1.7'], `${user!.email}.pdf`, { type: 'application/pdf' }))
    const upload = new Request('http://x.example/api/user-files', { method: 'POST', body: form })
    const file = (await (await platform.fetch(upload)).json()) as { id: string }
    await conversations.send(userId, id, { text: 'Read it', attachments: [file.id] })
  }
  const filesOf = async () => {
    const { chunks } = await conversations.reply(ada!, id, { message: { text: 'Well?' } })
    for await (const _ of chunks);
    return asked
      .at(-1)!
      .messages.flatMap(({ content }) =>
        typeof content === 'string'
          ? []
          : content.slice(1).map((part) => (part.type === 'text' ? part.text : part.type)),
      )
  }
  await sendWithFile(ada)
  await sendWithFile(eve)
  expect(await filesOf()).toEqual(['file', 'file'])
  await members.remove(person(ada), id, member.id)
  expect(await filesOf()).toEqual(['file', '[The file eve@example.org.pdf is left out, since who sent it has left]'])
})
