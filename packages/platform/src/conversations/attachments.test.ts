import { createUser, memoryKV } from '@turnpike/core'
import { unstorageBlobs } from '@turnpike/storage/blobs'
import { expect, it } from 'vitest'
import { mapDriver } from '../../../../test/support/map-driver.js'
import { createPlatform } from '../platform.js'

it('threat 204: a text that is named a picture is attached as the text that it is sent as, and a reply has files as long as it is made from them', async () => {
  const kv = await memoryKV()
  const { id: userId } = await createUser(kv, { email: 'ada@example.org' })
  const identity = { authenticate: () => ({ userId, via: 'custom' as const }) }
  const platform = createPlatform({
    kv,
    identity,
    files: { blobs: unstorageBlobs(mapDriver<string | Uint8Array>().driver) },
  })
  const { id } = await platform.operations.projects.create(userId, { name: 'P' })
  const { conversations } = platform.operations
  const attachedAs = async (type: string) => {
    const form = new FormData()
    form.set('file', new File(['<svg>'], 'a', { type }))
    const upload = new Request('http://x.example/api/user-files', { method: 'POST', body: form })
    const file = (await (await platform.fetch(upload)).json()) as { id: string }
    const { attachments } = await conversations.send(userId, id, {
      text: 'A',
      attachments: [file.id],
    })
    return attachments?.map(({ mime_type }) => mime_type)
  }
  expect(await attachedAs('image/svg+xml')).toEqual(['text/plain'])
  expect(await attachedAs('image/png')).toEqual(['text/plain'])
  expect(await attachedAs('text/csv')).toEqual(['text/csv'])
  // A reply is made from the last hundred.
  expect(await conversations.hasFiles(userId, id)).toBe(true)
  for (let i = 0; i < 100; i++) await conversations.send(userId, id, { text: 'B' })
  expect(await conversations.hasFiles(userId, id)).toBe(false)
})

it('threat 59: reads the texts that are attached to messages of a user a few at a time', async () => {
  const kv = await memoryKV()
  const stored = unstorageBlobs(mapDriver<string | Uint8Array>().driver)
  let [reading, most] = [0, 0]
  const blobs: typeof stored = {
    ...stored,
    async get(...args) {
      most = Math.max(most, ++reading)
      await new Promise((resolve) => setTimeout(resolve, 5))
      reading--
      return stored.get(...args)
    },
  }
  const user = await createUser(kv, { email: 'ada@example.org' })
  const identity = { authenticate: () => ({ userId: user.id, via: 'custom' as const }) }
  const platform = createPlatform({ kv, identity, files: { blobs } })
  const { id } = await platform.operations.projects.create(user.id, { name: 'P' })
  const form = new FormData()
  form.set('file', new File(['a,b\n1,2'], 'toll.csv', { type: 'text/csv' }))
  const upload = new Request('http://x.example/api/user-files', { method: 'POST', body: form })
  const file = (await (await platform.fetch(upload)).json()) as { id: string }
  const send = async () => {
    const body = JSON.stringify({ text: 'What is it?', attachments: [file.id] })
    const headers = { 'content-type': 'application/json' }
    const path = `http://x.example/api/projects/${id}/conversation/messages`
    return (await platform.fetch(new Request(path, { method: 'POST', headers, body }))).status
  }
  const statuses = await Promise.all(Array.from({ length: 50 }, send))
  expect(new Set(statuses)).toEqual(new Set([200]))
  expect(most).toBe(16)
})
