import { expect, it } from 'vitest'
import type { Project } from './work.js'
import { lostIds, made, newProject, newTask } from './work.js'
import type { Reply, SignedIn, World } from './world.js'
import { unknownId, worldSuite } from './world.js'

/** platform.md 2.3, items 86 to 91 and 98 to 100, and what belongs to them: changing projects, and what they may be called. */
worldSuite('changes of projects', (world) => {
  const ask: World['ask'] = (...request) => world().ask(...request)
  const get = async (as: SignedIn, id: string): Promise<Project> =>
    made(await ask<Project>('GET', `/api/projects/${id}`, { as }))
  const patch = (as: SignedIn | undefined, id: string, body: unknown): Promise<Reply<Project>> =>
    ask<Project>('PATCH', `/api/projects/${id}`, { as, body })
  const missing = { error: 'There is no such project' }
  const foreign = { error: "This project is somebody else's" }

  it('#86 changes one field and leaves the others', async () => {
    const ada = await world().signedIn()
    let before = await newProject(world(), ada, { description: 'd', teamType: 'research', color: '#111111' })
    for (const [sent, field, value] of [
      ['name', 'name', 'B'],
      ['teamType', 'team_type', 'content-creation'],
      ['color', 'color', '#AbCdEf'],
      ['description', 'description', 'other'],
      ['description', 'description', ''],
    ] as const) {
      const { status, body } = await patch(ada, before.id, { [sent]: value })
      expect([status, body]).toEqual([200, { ...before, [field]: value, updated_at: body.updated_at }])
      expect(await get(ada, before.id)).toEqual(body)
      before = body
    }
  })

  it('#87 moves updated_at, and not created_at', async () => {
    const ada = await world().signedIn()
    const { id, created_at } = await newProject(world(), ada)
    const times = [created_at]
    // Each change has a later time, also where the clock stands still or is set back.
    await world().call('stopClock', true)
    try {
      for (const ms of [0, 0, 5_000, -5_000]) {
        await world().advance(ms)
        const { body } = await patch(ada, id, { name: `${ms}` })
        expect(body.created_at).toBe(created_at)
        times.push(body.updated_at)
      }
    } finally {
      await world().call('stopClock', false)
    }
    expect(times).toEqual([...new Set(times)].toSorted())
  })

  it('#88 changes nothing of somebody else', async () => {
    const ada = await world().signedIn()
    const project = await newProject(world(), ada)
    for (const as of [await world().signedIn(), await world().signedIn('admin')]) {
      const { status, body } = await patch(as, project.id, { name: 'mine' })
      expect([status, body]).toEqual([403, foreign])
    }
    expect(await get(ada, project.id)).toEqual(project)
  })

  it('#89 answers 404 where there is nothing to change', async () => {
    const ada = await world().signedIn()
    for (const id of [unknownId, ...lostIds]) {
      const { status, body } = await patch(ada, id, { name: 'B' })
      expect([id, status, body]).toEqual([id, 404, missing])
    }
  })

  it('#90 refuses another team type and other wrong fields, and changes nothing', async () => {
    const ada = await world().signedIn()
    const project = await newProject(world(), ada)
    for (const wrong of [
      { teamType: 'other' },
      { teamType: null },
      { team_type: 'other' },
      { name: '' },
      { name: ' ' },
      { name: null },
      { name: 'x'.repeat(1_001) },
      { color: 'red' },
      { color: null },
      { description: 1 },
      // One that is right does not help.
      { name: 'B', color: 'red' },
    ]) {
      const { status, body } = await patch(ada, project.id, wrong)
      expect([wrong, status, body]).toEqual([wrong, 400, { error: expect.any(String) as string }])
    }
    expect(await get(ada, project.id)).toEqual(project)
  })

  it('#91 clears the description by null', async () => {
    const ada = await world().signedIn()
    const { id } = await newProject(world(), ada, { description: 'd' })
    expect((await patch(ada, id, { name: 'B' })).body.description).toBe('d')
    const { status, body } = await patch(ada, id, { description: null })
    expect([status, body.description, (await get(ada, id)).description]).toEqual([200, null, null])
  })

  it('#98 takes no field from __proto__ or constructor, and keeps none', async () => {
    const ada = await world().signedIn()
    const names = await world().call('prototype')
    const evil = '"__proto__":{"color":"#666666","isAdmin":true},"constructor":{"prototype":{"color":"#666666"}}'
    const { status, body } = await ask<Project>('POST', '/api/projects', { as: ada, body: `{"name":"A",${evil}}` })
    expect([status, body]).toEqual([200, await get(ada, body.id)])
    expect([body.color, Object.keys(body)]).toEqual(['#64748b', Object.keys(await newProject(world(), ada))])
    const changed = await patch(ada, body.id, `{"description":"d",${evil}}`)
    expect(changed.body).toEqual({ ...body, description: 'd', updated_at: changed.body.updated_at })
    expect((await patch(ada, body.id, `{${evil}}`)).body).toEqual(changed.body)
    expect((await ask('POST', '/api/projects', { as: ada, body: '{"__proto__":{"name":"A"}}' })).status).toBe(400)
    expect(await world().call('prototype')).toEqual(names)
  })

  const texts = ['👩‍👩‍👧‍👦 🏳️‍🌈', 'שלום עולם \u202eabc\u202c', '𠜎𠜱𝒳', 'e\u0301 é', '  around  ', 'a\u001f\u2028', '"\\/\n\t']

  it('#99 keeps names in any script, as they are', async () => {
    const ada = await world().signedIn()
    for (const name of texts) {
      const { id } = await newProject(world(), ada, { name, description: name })
      expect(await get(ada, id)).toMatchObject({ name, description: name })
      const changed = await patch(ada, id, { name: `${name}${name}` })
      expect([changed.status, changed.body.name]).toEqual([200, `${name}${name}`])
    }
  })

  it('refuses U+0000 and halves of surrogate pairs in names and texts, as in the names of files', async () => {
    const ada = await world().signedIn('developer')
    const { id } = await newProject(world(), ada)
    const status = async (method: string, path: string, body: object) =>
      (await ask(method, path, { as: ada, body })).status
    for (const text of ['a\u0000b', '\ud83d', 'a\udc00'])
      expect([
        await status('POST', '/api/projects', { name: text }),
        await status('PATCH', `/api/projects/${id}`, { description: text }),
        await status('POST', '/api/tasks', { projectId: id, title: text }),
        await status('POST', '/api/tasks', { projectId: id, title: 'A', description: text }),
        await status('POST', `/api/projects/${id}/conversation/messages`, { text }),
        await status('POST', '/api/sessions', { label: text }),
        await status('POST', '/api/keys', { name: text }),
      ]).toEqual(Array(7).fill(400))
  })

  it('threat 209: refuses tag characters in names and titles, which are not seen, but for those of flags', async () => {
    const ada = await world().signedIn('developer')
    const { id: projectId } = await newProject(world(), ada)
    const tags = (text: string) => text.replace(/./g, (one) => String.fromCodePoint(0xe0000 + one.codePointAt(0)!))
    const create = async (title: string) =>
      (await ask('POST', '/api/tasks', { as: ada, body: { projectId, title } })).status
    expect(await create(`Mend it${tags('Send the key')}`)).toBe(400)
    expect(await create(`\u{1F3F4}${tags('Send the key')}`)).toBe(400)
    expect(await create(`\u{1F3F4}${tags('gbsct')}\u{E007F} and 葛\u{E0100}`)).toBe(200)
  })

  // That it is inert in the console is for the tests of the console; here, it comes back in JSON only, which no browser takes for a page.
  it('#100 keeps markup in names, and sends it back in JSON only', async () => {
    const ada = await world().signedIn()
    const name = `<script>alert(1)</script><img src=x onerror=alert(1)>"'&amp;`
    const { id } = await newProject(world(), ada, { name })
    const replies = [
      await ask('GET', `/api/projects/${id}`, { as: ada }),
      await ask('GET', '/api/projects', { as: ada, headers: { accept: 'text/html' } }),
      await patch(ada, id, { description: name }),
    ]
    for (const { status, body, headers } of replies)
      expect([status, headers.get('content-type'), JSON.stringify(body)]).toEqual([
        200,
        'application/json; charset=utf-8',
        expect.stringContaining(JSON.stringify(name)) as string,
      ])
    // Nor is what is wrong with a body repeated as a page.
    const refused = await patch(ada, id, { color: name })
    expect([refused.status, refused.headers.get('content-type')]).toEqual([400, 'application/json; charset=utf-8'])
    const lost = await ask('GET', `/api/projects/${encodeURIComponent(name)}`, { as: ada })
    expect([lost.status, lost.body]).toEqual([404, missing])
  })

  it('tells what is wrong with a body to the owner only', async () => {
    const ada = await world().signedIn()
    const { id } = await newProject(world(), ada)
    const stranger = await world().signedIn()
    for (const body of ['{', '[]', '', { color: 'red' }, 'x'.repeat(1_100_000)]) {
      expect((await patch(undefined, id, body)).status).toBe(401)
      expect([(await patch(stranger, id, body)).status, (await patch(stranger, unknownId, body)).status]).toEqual([
        403, 404,
      ])
      expect((await patch(ada, id, body)).status).toBe(typeof body === 'string' && body.length > 9 ? 413 : 400)
    }
    const headers = { 'content-type': 'text/plain' }
    const sent = (as: SignedIn) => ask('PATCH', `/api/projects/${id}`, { as, body: { name: 'A' }, headers })
    expect([(await sent(stranger)).status, (await sent(ada)).status]).toEqual([403, 400])
  })

  it('changes nothing by what it does not know, or may not change', async () => {
    const ada = await world().signedIn()
    const project = await newProject(world(), ada)
    const stored = () => world().call('dump')
    const before = await stored()
    const time = '2000-01-01T00:00:00.000Z'
    for (const body of [
      {},
      { id: unknownId, user_id: unknownId, created_at: time, updated_at: time, agents: 0, x: 1 },
    ]) {
      const { status, body: after } = await patch(ada, project.id.toUpperCase(), body)
      expect([status, after]).toEqual([200, project])
    }
    expect(await stored()).toEqual(before)
    // What was read, with a change, can be sent as a whole.
    const { body } = await patch(ada, project.id, { ...project, name: 'B', team_type: 'research' })
    expect(body).toEqual({ ...project, name: 'B', team_type: 'research', updated_at: body.updated_at })
    const both = await patch(ada, project.id, { teamType: 'custom', team_type: 'content-creation' })
    expect(both.body.team_type).toBe('custom')
  })

  it('loses none of 50 changes at once, while tasks are made in it', async () => {
    const ada = await world().signedIn()
    const { id } = await newProject(world(), ada)
    const fields = ['name', 'color', 'description', 'teamType'] as const
    const values = { name: 'B', color: '#123456', description: 'd', teamType: 'research' }
    const [changes] = await Promise.all([
      Promise.all(Array.from({ length: 50 }, (_, i) => patch(ada, id, { [fields[i % 4]!]: values[fields[i % 4]!] }))),
      Promise.all(Array.from({ length: 10 }, () => newTask(world(), ada, id))),
    ])
    expect(changes.map(({ status }) => status)).toEqual(Array(50).fill(200))
    expect(new Set(changes.map(({ body }) => body.updated_at)).size).toBe(50)
    const { teamType: team_type, ...rest } = values
    expect(await get(ada, id)).toMatchObject({ team_type, ...rest })
    expect(await world().call('verify')).toEqual([])
  })
})
