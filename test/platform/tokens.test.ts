import { expect, it } from 'vitest'
import { upload } from './files.js'
import { made, newProject, newTask } from './work.js'
import type { SignedIn } from './world.js'
import { chat, unknownId, worldSuite } from './world.js'

interface Token {
  id: string
  name: string
  scopes: string[]
  expires_at?: string
  token: string
}

/** Tokens by which programs act as their users. What each route says to one is in access.test.ts. */
worldSuite('tokens for programs', (world) => {
  const create = async (as: SignedIn, body: object = {}): Promise<Token> =>
    made(
      await world().ask<Token>('POST', '/api/tokens', {
        as,
        body: { name: 'worker', scopes: ['tasks:write'], ...body },
      }),
    )
  const list = async (as: SignedIn): Promise<object[]> =>
    made(await world().ask<object[]>('GET', '/api/tokens', { as }))

  it('are shown once', async () => {
    const ada = await world().signedIn()
    const { token, ...rest } = await create(ada, { expiresAt: '2100-01-01' })
    expect(token).toMatch(/^tpt-[\w-]{43}$/)
    expect(rest).toMatchObject({ name: 'worker', scopes: ['tasks:write'], expires_at: '2100-01-01T00:00:00.000Z' })
    expect(await list(ada)).toEqual([rest])
    expect(await list(await world().signedIn())).toEqual([])
  })

  it('threat 93: do what their scopes say, as their user, and nothing else', async () => {
    const ada = await world().signedIn()
    const { id } = await newProject(world(), ada)
    const task = await newTask(world(), ada, id)
    const [writer, reader, model] = await Promise.all(
      [['tasks:write'], ['tasks:read'], ['gateway:write']].map((scopes) => create(ada, { scopes })),
    )
    const ask = async (token: string, method: string, path: string, body?: object) => {
      const { status, body: answer } = await world().ask<{ error?: unknown }>(method, path, { as: token, body })
      return [status, answer.error]
    }
    const refused = (needed: string) => [403, `This token is not for that: it needs ${needed}`]
    const patch = { draft_output: 'A' }
    expect(await ask(writer!.token, 'GET', '/api/tasks')).toEqual([200, undefined])
    expect(await ask(writer!.token, 'PATCH', `/api/tasks/${task.id}`, patch)).toEqual([200, undefined])
    expect(await ask(reader!.token, 'GET', '/api/tasks')).toEqual([200, undefined])
    expect(await ask(reader!.token, 'PATCH', `/api/tasks/${task.id}`, patch)).toEqual(refused('tasks:write'))
    expect(await ask(reader!.token, 'PATCH', `/api/tasks/${task.id}`, { status: 'x' })).toEqual(refused('tasks:write'))
    expect(await ask(model!.token, 'GET', '/api/tasks')).toEqual(refused('tasks:read'))
    expect(await ask(writer!.token, 'DELETE', '/api/account')).toEqual(refused('account:write'))
    expect(await ask(writer!.token, 'POST', '/api/tokens', {})).toEqual([403, 'This token is not for that'])
    expect(await ask(model!.token, 'POST', '/api/gateway/v1/chat/completions', chat)).toEqual([200, undefined])
    for (const [path, body] of [
      ['/api/gateway/v1/chat/completions', chat],
      ['/api/gateway/v1/models', undefined],
    ] as const)
      expect((await ask(writer!.token, body ? 'POST' : 'GET', path, body))[0]).toBe(403)
    // At the gateway itself, keys are needed.
    expect((await ask(model!.token, 'POST', '/v1/chat/completions', chat))[0]).toBe(401)
  })

  it('threat 108: ask models and read files by conversations where they are for those, too', async () => {
    const ada = await world().signedIn()
    const { id } = await newProject(world(), ada)
    const conversation = `/api/projects/${id}/conversation`
    const send = async (scopes: string[], path: string, body?: object): Promise<[number, unknown]> => {
      const { token: as } = await create(ada, { scopes })
      const { status, body: answer } = await world().ask<{ error?: unknown }>('POST', conversation + path, {
        as,
        body,
        headers: { accept: 'text/event-stream' },
      })
      return [status, answer.error]
    }
    const text = 'Hi'
    const refused = (needed: string) => [403, `This token is not for that: it needs ${needed}`]
    for (const [path, body] of [['/messages', { text }], ['/reply']] as const)
      expect(await send(['conversations:write', 'gateway:read'], path, body)).toEqual(refused('gateway:write'))
    const withFile = { text, attachments: [unknownId] }
    for (const body of [withFile, { ...withFile, role: 'assistant' }])
      expect(await send(['conversations:write', 'gateway:write'], '/messages', body)).toEqual(refused('files:read'))
    expect(made(await world().ask<{ messages: object[] }>('GET', conversation, { as: ada })).messages).toEqual([])
    // What needs neither.
    expect((await send(['conversations:write'], '/messages', { text, role: 'assistant' }))[0]).toBe(200)
    const both = ['conversations:write', 'gateway:write', 'files:read']
    expect(await send(both, '/messages', withFile)).toEqual([404, 'There is no such file'])
    expect((await send(both, '/messages', { text }))[0]).toBe(200)
    // A reply to any message is about the files before it.
    const { id: file } = made(await upload(world(), ada, 'A text'))
    expect((await send(both, '/messages', { text, attachments: [file] }))[0]).toBe(200)
    for (const [path, body] of [['/messages', { text }], ['/reply']] as const)
      expect(await send(['conversations:write', 'gateway:write'], path, body)).toEqual(refused('files:read'))
    expect((await world().ask('DELETE', conversation, { as: ada })).status).toBe(204)
    expect((await send(['conversations:write', 'gateway:write'], '/messages', { text }))[0]).toBe(200)
  })

  it('tell by usage the names of what they read otherwise, and of nothing else', async () => {
    const ada = await world().signedIn()
    const { token: as } = await create(ada, { scopes: ['account:read', 'tasks:read'] })
    const statuses = ['model', 'key', 'task', 'project', 'session', 'conversation'].map(async (by) => [
      by,
      (await world().ask('GET', `/api/usage?by=${by}`, { as })).status,
    ])
    expect(Object.fromEntries(await Promise.all(statuses))).toEqual({
      model: 200,
      key: 403,
      task: 200,
      project: 403,
      session: 403,
      conversation: 403,
    })
  })

  it('are no administrators, whoever made them', async () => {
    const { token } = await create(await world().signedIn('admin'), { scopes: ['account:read', 'gateway:write'] })
    for (const path of ['/api/users', '/admin/providers', '/admin/metrics', '/admin/audit'])
      expect([path, (await world().ask('GET', path, { as: token })).status]).toEqual([path, 403])
  })

  it('end: at once when they are revoked, at their time, and with their user', async () => {
    const [ada, root] = [await world().signedIn(), await world().signedIn('admin')]
    const status = async (token: string) => (await world().ask('GET', '/api/tasks', { as: token })).status
    const [revoked, short, lasting] = [await create(ada), await create(ada), await create(ada)]
    expect(await status(revoked.token)).toBe(200)
    const revoke = async (as: SignedIn, id: string) => (await world().ask('DELETE', `/api/tokens/${id}`, { as })).status
    expect([await revoke(root, revoked.id), await revoke(ada, unknownId), await revoke(ada, 'x')]).toEqual([
      404, 404, 404,
    ])
    expect([await revoke(ada, revoked.id), await revoke(ada, revoked.id)]).toEqual([204, 404])
    expect(await status(revoked.token)).toBe(401)
    expect(await status(`${lasting.token}x`)).toBe(401)

    await world().ask('DELETE', `/api/tokens/${short.id}`, { as: ada })
    const until = new Date(Date.now() + 3_600_000 * 24 * 365).toISOString()
    const soon = await create(ada, { expiresAt: until })
    expect(await status(soon.token)).toBe(200)

    expect(await status(lasting.token)).toBe(200)
    await world().ask('DELETE', `/api/users/${ada.id}`, { as: root })
    expect(await status(lasting.token)).toBe(401)
    await world().ask('POST', `/api/users/${ada.id}/restore`, { as: root })
    expect(await status(lasting.token)).toBe(401)
    expect(await world().call('verify')).toEqual([])
  })

  it('have names, scopes and an end that can be, and a highest number', async () => {
    const ada = await world().signedIn()
    for (const body of [
      { name: '' },
      { scopes: [] },
      { scopes: ['tasks'] },
      { scopes: ['users:read'] },
      { scopes: ['tasks:read', 'tasks:read'] },
      { expiresAt: '2020-01-01' },
      { expiresAt: 'soon' },
    ])
      expect([
        body,
        (await world().ask('POST', '/api/tokens', { as: ada, body: { name: 't', scopes: ['tasks:read'], ...body } }))
          .status,
      ]).toEqual([body, 400])
    const answers = await Promise.all(
      Array.from({ length: 60 }, () =>
        world().ask('POST', '/api/tokens', { as: ada, body: { name: 't', scopes: ['tasks:read'] } }),
      ),
    )
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(50)
    expect(answers.find(({ status }) => status !== 200)).toMatchObject({
      status: 403,
      body: { error: 'Your plan has 50 tokens, and this would be more' },
    })
    expect(await world().call('verify')).toEqual([])
  })
})
