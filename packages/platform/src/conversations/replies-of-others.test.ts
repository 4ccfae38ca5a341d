import { ownedKey } from '@turnpike/core/internal'
import { unstorageBlobs } from '@turnpike/storage/blobs'
import { expect, it } from 'vitest'
import { mapDriver } from '../../../../test/support/map-driver.js'
import { sharedProject } from '../../../../test/support/shared-project.js'
import type { ReplyRequest } from './responder.js'

it('threat 175: replies that an editor asks for at once leave the owner a part of the space', async () => {
  let go!: () => void
  const gone = new Promise<void>((resolve) => (go = resolve))
  const chunk = (content: string) =>
    ({ id: 'r', object: 'chat.completion.chunk', created: 1, model: 'm', choices: [{ delta: { content } }] }) as never
  const { kv, platform, ada, eve, id } = await sharedProject({
    planLimits: { dataGb: 0.04 },
    async *responder() {
      yield chunk('A')
      await gone
      for (let i = 0; i < 10; i++) yield chunk('x'.repeat(100_000))
    },
  })
  const { conversations } = platform.operations
  // What an editor may use is 36 MB, and a reply may have 3 MB.
  for (let i = 0; i < 20; i++) await conversations.send(eve.id, id, { text: 'x'.repeat(1_000_000) })
  const replies = []
  for (let i = 0; i < 5; i++) replies.push(await conversations.reply(eve, id, { message: { text: 'More' } }))
  await expect(conversations.reply(eve, id, { message: { text: 'More' } })).rejects.toThrow('bytes of data')
  const own = await conversations.reply(ada, id, { message: { text: 'And I?' } })
  go()
  for (const { chunks } of [...replies, own]) for await (const _ of chunks);
  expect((await kv.get<{ bytes: number }>(ownedKey(ada.id)))!.value.bytes).toBeLessThan(36_000_000)
})

it('threat 210: files of somebody who is no member any more are in no reply', async () => {
  const asked: ReplyRequest[] = []
  let userId = ''
  const { platform, ada, eve, id, removeEve } = await sharedProject({
    identity: { authenticate: () => ({ userId, via: 'custom' as const }) },
    files: { blobs: unstorageBlobs(mapDriver<string | Uint8Array>().driver) },
    async *responder(request) {
      asked.push(request)
      yield { id: 'r', object: 'chat.completion.chunk', created: 1, model: 'm', choices: [] } as never
    },
  })
  const { conversations } = platform.operations
  const sendWithFile = async (user: typeof eve) => {
    userId = user.id
    const form = new FormData()
    form.set('file', new File(['%PDF-1.7'], `${user.email}.pdf`, { type: 'application/pdf' }))
    const upload = new Request('http://x.example/api/user-files', { method: 'POST', body: form })
    const file = (await (await platform.fetch(upload)).json()) as { id: string }
    await conversations.send(userId, id, { text: 'Read it', attachments: [file.id] })
  }
  const filesOf = async () => {
    const { chunks } = await conversations.reply(ada, id, { message: { text: 'Well?' } })
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
  await removeEve()
  expect(await filesOf()).toEqual(['file', '[The file eve@example.org.pdf is left out, since who sent it has left]'])
})
