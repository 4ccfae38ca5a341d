import { expect, it } from 'vitest'
import { thorough } from '../support/scope.js'
import { lostIds, made, newWork } from './work.js'
import type { Reply, SignedIn, World } from './world.js'
import { aTime, unknownId, uuid, worldSuite } from './world.js'

interface Message {
  id: string
  role: string
  text: string
  timestamp: string
}

interface Conversation {
  id: string
  project_id: string
  messages: Message[]
}

/** The conversation of a project, without replies: getting, sending and clearing. */
worldSuite('conversations', (world) => {
  const ask: World['ask'] = (...request) => world().ask(...request)
  const pathOf = (projectId: string): string => `/api/projects/${projectId}/conversation`
  const get = async (as: SignedIn, projectId: string): Promise<Conversation> =>
    made(await ask<Conversation>('GET', pathOf(projectId), { as }))
  const send = (as: SignedIn, projectId: string, body: object): Promise<Reply<Message>> =>
    ask<Message>('POST', `${pathOf(projectId)}/messages`, { as, body })

  it('makes the conversation of a project at its first use, and only one', async () => {
    const { as, project } = await newWork(world())
    const all = await Promise.all(Array.from({ length: 8 }, () => get(as, project.id)))
    const [first] = all as [Conversation]
    expect(first).toEqual({ id: uuid, project_id: project.id, messages: [] })
    expect(all).toEqual(Array(8).fill(first))
    expect(await get(as, project.id.toUpperCase())).toEqual(first)
    expect(await get(as, (await newWork(world())).project.id).catch((error: Error) => error.message)).toContain('404')
    expect(await world().call('verify')).toEqual([])
  })

  it('keeps messages, oldest first, whole or the last ones', async () => {
    const { as, project } = await newWork(world())
    const messages: Message[] = []
    for (const [role, body] of [
      ['user', { text: 'one' }],
      ['assistant', { text: '  two\n', role: 'assistant' }],
      ['system', { text: '𠜎 <b>three</b>', role: 'system', id: unknownId, timestamp: 'x', incomplete: true }],
      ['user', { text: 'four', role: null }],
    ] as const) {
      const { status, body: message } = await send(as, project.id, body)
      expect([status, message]).toEqual([200, { id: uuid, role, text: body.text, timestamp: aTime }])
      messages.push(message)
    }
    // More than are read at a time.
    for (let i = 0; i < (thorough ? 410 : 1); i++) messages.push((await send(as, project.id, { text: `${i}` })).body)
    const whole = await get(as, project.id)
    expect(whole.messages).toEqual(messages)
    const parts: Message[][] = []
    for (let query: string | undefined = `?limit=${thorough ? 100 : 2}`; query !== undefined;) {
      const reply: Reply<Conversation> = await ask<Conversation>('GET', pathOf(project.id) + query, { as })
      const { status, body, headers } = reply
      expect([status, body.id]).toEqual([200, whole.id])
      parts.unshift(body.messages)
      query = /^<(\?.*)>; rel="next"$/.exec(headers.get('link') ?? '')?.[1]
    }
    expect(parts.length).toBeGreaterThan(2)
    expect(parts.flat()).toEqual(messages)
    expect((await ask('GET', `${pathOf(project.id)}?limit=0`, { as })).status).toBe(400)
  })

  it('refuses a message without a text, or of another role', async () => {
    const { as, project } = await newWork(world())
    for (const body of [{}, { text: '' }, { text: ' \n' }, { text: 1 }, { text: null }, { text: 'x', role: 'tool' }])
      expect([body, (await send(as, project.id, body)).status]).toEqual([body, 400])
    expect((await get(as, project.id)).messages).toEqual([])
  })

  it('removes all messages, and goes on', async () => {
    const { as, project } = await newWork(world())
    for (let i = 0; i < 3; i++) await send(as, project.id, { text: `removed ${i}` })
    const { id } = await get(as, project.id)
    const clear = () => ask('DELETE', pathOf(project.id), { as })
    for (let i = 0; i < 2; i++) expect([(await clear()).status, (await clear()).body]).toEqual([204, ''])
    expect(await get(as, project.id)).toEqual({ id, project_id: project.id, messages: [] })
    expect(JSON.stringify(await world().call('dump'))).not.toContain('removed 0')
    const next = (await send(as, project.id, { text: 'next' })).body
    expect((await get(as, project.id)).messages).toEqual([next])
    expect(await world().call('verify')).toEqual([])
  })

  it("knows nothing of somebody else's", async () => {
    const { as: ada, project } = await newWork(world())
    await send(ada, project.id, { text: 'secret' })
    for (const as of [await world().signedIn(), await world().signedIn('admin')])
      for (const id of [project.id, unknownId, ...lostIds])
        for (const [method, path, body] of [
          ['GET', pathOf(id)],
          ['DELETE', pathOf(id)],
          ['POST', `${pathOf(id)}/messages`, { text: 'mine' }],
          ['GET', `${pathOf(id)}/spend`],
        ] as const) {
          const reply = await ask(method, path, { as, body })
          expect([method, id, reply.status, reply.body]).toEqual([
            method,
            id,
            404,
            { error: 'There is no such project' },
          ])
        }
    expect((await get(ada, project.id)).messages).toMatchObject([{ text: 'secret' }])
  })
})
