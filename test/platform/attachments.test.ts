import { expect, it } from 'vitest'
import { filesSuite, upload } from './files.js'
import type { SignedIn } from './world.js'
import { unknownId } from './world.js'

interface Message {
  id: string
  text: string
  attachments?: { id: string; display_name: string; mime_type: string; size_bytes: number }[]
}

const png = Buffer.from('89504e470d0a1a0a0000000d49484452000000010000000108060000001f15c489', 'hex')

/** Files of messages: docs/platform.md. */
filesSuite('files in conversations', (world) => {
  const newProject = async (as: SignedIn): Promise<string> =>
    (await world().ask<{ id: string }>('POST', '/api/projects', { as, body: { name: 'P' } })).body.id
  const send = (as: SignedIn, id: string, body: object, headers = {}) =>
    world().ask<Message & { error: string }>('POST', `/api/projects/${id}/conversation/messages`, { as, body, headers })
  const asStream = { accept: 'text/event-stream' }
  const add = async (as: SignedIn, bytes: Uint8Array | string, name: string, type: string): Promise<string> =>
    (await upload(world(), as, bytes, { name, type })).body.id
  /** The contents of the messages that the last request had. */
  const asked = (): unknown[] =>
    (world().upstream.requests.at(-1)!.body as { messages: { content: unknown }[] }).messages.map(
      ({ content }) => content,
    )
  const trash = (as: SignedIn, file: string) => world().ask('DELETE', `/api/user-files/${file}`, { as })

  it('sends the files of a message to the model, again with later ones while they are there', async () => {
    const ada = await world().signedIn()
    const id = await newProject(ada)
    const picture = await add(ada, png, 'gate.png', 'image/png')
    const table = await add(ada, 'a,b\n1,ä', 'toll.csv', 'text/csv')
    const attachments = [picture, table]
    expect((await send(ada, id, { text: 'What is it?', attachments }, asStream)).status).toBe(200)
    const shown = {
      type: 'image_url',
      image_url: { url: `data:image/png;base64,${png.toString('base64')}` },
    }
    const first = [{ type: 'text', text: 'What is it?' }, shown, { type: 'text', text: 'File toll.csv:\n\na,b\n1,ä' }]
    expect(asked()).toEqual([first])
    const { messages } = (
      await world().ask<{ messages: Message[] }>('GET', `/api/projects/${id}/conversation`, { as: ada })
    ).body
    expect(messages[0]!.attachments).toEqual([
      { id: picture, display_name: 'gate.png', mime_type: 'image/png', size_bytes: png.length },
      { id: table, display_name: 'toll.csv', mime_type: 'text/csv', size_bytes: 8 },
    ])
    await world().ask('PATCH', `/api/user-files/${table}`, { as: ada, body: { displayName: 'other.csv' } })
    await send(ada, id, { text: 'And so?' }, asStream)
    expect(asked()[0]).toEqual(first)
    await trash(ada, table)
    await send(ada, id, { text: 'And now?' }, asStream)
    const gone = { type: 'text', text: '[The file toll.csv is not there any more]' }
    expect(asked()[0]).toEqual([first[0], shown, gone])
    expect(asked().at(-1)).toBe('And now?')
  })

  it('stores no message with a file of somebody else, in the trash, unreadable for models, or too much', async () => {
    const [ada, bob] = [await world().signedIn(), await world().signedIn()]
    const id = await newProject(ada)
    const trashed = await add(ada, 'a', 'a.txt', 'text/plain')
    await trash(ada, trashed)
    const cases: [number, string][] = [
      [404, await add(bob, 'secret', 'b.txt', 'text/plain')],
      [404, unknownId],
      [404, trashed],
      [400, await add(ada, Buffer.from([0, 1, 2, 255]), 'a.png', 'image/png')],
      [400, await add(ada, 'x'.repeat(400_001), 'long.txt', 'text/plain')],
    ]
    const before = world().upstream.requests.length
    for (const [status, file] of cases)
      for (const headers of [{}, asStream])
        expect((await send(ada, id, { text: 'Read it', attachments: [file] }, headers)).status, file).toBe(status)
    const fine = await add(ada, 'x'.repeat(300_000), 'fine.txt', 'text/plain')
    expect((await send(ada, id, { text: 'x', attachments: [fine, fine] })).status).toBe(400)
    expect((await send(ada, id, { text: 'x', attachments: Array(11).fill(fine) })).status).toBe(400)
    expect((await send(ada, id, { text: 'x', attachments: [fine], role: 'assistant' })).status).toBe(400)
    expect(world().upstream.requests.length).toBe(before)
    const { body } = await world().ask<{ messages: Message[] }>('GET', `/api/projects/${id}/conversation`, { as: ada })
    expect(body.messages).toEqual([])
  })

  it('leaves out files of earlier messages that are too much', async () => {
    const ada = await world().signedIn()
    const id = await newProject(ada)
    const long = await add(ada, 'x'.repeat(300_000), 'long.txt', 'text/plain')
    await send(ada, id, { text: 'One', attachments: [long] })
    await send(ada, id, { text: 'Two', attachments: [long] }, asStream)
    expect(asked()).toEqual([
      [
        { type: 'text', text: 'One' },
        { type: 'text', text: '[The file long.txt is left out, since too much is attached]' },
      ],
      [
        { type: 'text', text: 'Two' },
        { type: 'text', text: `File long.txt:\n\n${'x'.repeat(300_000)}` },
      ],
    ])
  })
})
