import { expect, it } from 'vitest'
import type { Project } from './work.js'
import { lostIds, made, newProject, pagesOf } from './work.js'
import type { Reply, SignedIn, World } from './world.js'
import { aTime, unknownId, uuid, worldSuite } from './world.js'

/** platform.md 2.3, items 66 to 85, and what belongs to them: making, listing and reading projects. */
worldSuite('projects', (world) => {
  const ask: World['ask'] = (...request) => world().ask(...request)
  const create = (as: SignedIn, body: object): Promise<Reply<Project>> =>
    ask<Project>('POST', '/api/projects', { as, body })
  const list = async (as: SignedIn): Promise<Project[]> => made(await ask<Project[]>('GET', '/api/projects', { as }))
  /** Expects 400 for each body, and that it makes nothing. */
  const refuses = async (bodies: object[]): Promise<void> => {
    const ada = await world().signedIn()
    for (const body of bodies) {
      const reply = await create(ada, body)
      expect([body, reply.status, reply.body]).toEqual([body, 400, { error: expect.any(String) as string }])
    }
    expect(await list(ada)).toEqual([])
  }

  it('#66 needs a credential', async () => {
    const { status, body, headers } = await ask('GET', '/api/projects')
    expect([status, body]).toEqual([401, { error: expect.any(String) as string }])
    expect(headers.get('www-authenticate')).toBe('Bearer')
  })

  it('#67 has an empty list for an empty account', async () => {
    const { status, body } = await ask('GET', '/api/projects', { as: await world().signedIn() })
    expect([status, body]).toEqual([200, []])
  })

  it('#68 lists the newest first, in the same order each time, also where times are equal', async () => {
    const ada = await world().signedIn()
    const first = await newProject(world(), ada, { name: 'first' })
    await world().advance(1)
    await world().call('stopClock', true)
    const equal: Project[] = []
    try {
      for (let i = 0; i < 4; i++) equal.push(await newProject(world(), ada, { name: `${i}` }))
      await world().advance(1)
    } finally {
      await world().call('stopClock', false)
    }
    const last = await newProject(world(), ada, { name: 'last' })
    expect(new Set(equal.map(({ created_at }) => created_at)).size).toBe(1)
    const all = await list(ada)
    expect([all[0], all[5]]).toEqual([last, first])
    expect(all.slice(1, 5).map(({ name }) => name)).toEqual(expect.arrayContaining(['0', '1', '2', '3']))
    // A change moves nothing.
    await ask('PATCH', `/api/projects/${equal[0]!.id}`, { as: ada, body: { name: '0', color: '#000000' } })
    for (let i = 0; i < 3; i++) expect((await list(ada)).map(({ id }) => id)).toEqual(all.map(({ id }) => id))
    expect((await pagesOf<Project>(world(), ada, '/api/projects', 2)).flat()).toEqual(await list(ada))
  })

  it('#69 lists only the own projects', async () => {
    const [ada, bob, admin] = [await world().signedIn(), await world().signedIn(), await world().signedIn('admin')]
    const [hers, his] = [await newProject(world(), ada), await newProject(world(), bob)]
    expect([await list(ada), await list(bob), await list(admin)]).toEqual([[hers], [his], []])
    for (const query of [`?after=${hers.id}`, `?user_id=${ada.id}`, `?userId=${ada.id}`, `?limit=500&id=${hers.id}`])
      expect(JSON.stringify((await ask('GET', `/api/projects${query}`, { as: bob })).body)).not.toContain(hers.id)
  })

  /** What a project has that is made with the name A only, besides its owner. */
  const fields = {
    id: uuid,
    name: 'A',
    team_type: 'custom',
    color: '#64748b',
    description: null,
    created_at: aTime,
    updated_at: aTime,
  }

  it('#70 makes a project by its name only, with every field', async () => {
    const ada = await world().signedIn()
    const { status, body } = await create(ada, { name: 'A' })
    expect([status, body]).toEqual([200, { ...fields, user_id: ada.id }])
    const given = { name: 'B', teamType: 'research', color: '#ff0000', description: 'What it is for' }
    const { name, teamType: team_type, ...rest } = given
    expect((await create(ada, given)).body).toEqual({ ...fields, name, team_type, ...rest, user_id: ada.id })
  })

  it('#71 answers with exactly the 8 fields, in snake_case', async () => {
    const ada = await world().signedIn()
    const { body } = await create(ada, { name: 'A' })
    const path = `/api/projects/${body.id}`
    const fields = 'color created_at description id name team_type updated_at user_id'
    for (const project of [
      body,
      (await ask<Project>('GET', path, { as: ada })).body,
      (await list(ada))[0]!,
      (await ask<Project>('PATCH', path, { as: ada, body: { name: 'B' } })).body,
    ])
      expect(Object.keys(project).toSorted().join(' ')).toBe(fields)
  })

  it('#72 has null as description where there is none', async () => {
    const ada = await world().signedIn()
    for (const more of [{}, { description: null }]) {
      const { id, description } = await newProject(world(), ada, more)
      expect([description, (await ask<Project>('GET', `/api/projects/${id}`, { as: ada })).body.description]).toEqual([
        null,
        null,
      ])
    }
    expect((await newProject(world(), ada, { description: '' })).description).toBe('')
  })

  it('#73 gives it a UUID, and the caller as owner', async () => {
    const [ada, bob] = [await world().signedIn(), await world().signedIn('admin')]
    const projects = [await newProject(world(), ada), await newProject(world(), ada), await newProject(world(), bob)]
    expect(projects.map(({ user_id }) => user_id)).toEqual([ada.id, ada.id, bob.id])
    expect(projects.map(({ id }) => id)).toEqual([uuid, uuid, uuid])
    expect(new Set(projects.map(({ id }) => id)).size).toBe(3)
  })

  it('#74 has times in ISO 8601, UTC', async () => {
    const { created_at, updated_at } = await newProject(world(), await world().signedIn())
    expect(created_at).toEqual(aTime)
    expect(updated_at).toBe(created_at)
    expect(new Date(created_at).toISOString()).toBe(created_at)
  })

  it('#75 refuses a body without a name', () =>
    refuses([{}, { Name: 'A' }, { title: 'A' }, { name: null }, { color: '#000000' }]))
  it('#76 refuses an empty and a blank name', () =>
    refuses([{ name: '' }, { name: ' ' }, { name: '\t\r\n' }, { name: '\u00a0\u3000' }]))
  it('#77 refuses a name that is no text', () =>
    refuses([{ name: 1 }, { name: true }, { name: ['A'] }, { name: { A: 1 } }]))
  it('#78 refuses another team type', () =>
    refuses(['Custom', 'custom ', '', 'toString', 1, ['custom']].map((teamType) => ({ name: 'A', teamType }))))

  it('#79 takes each of the four team types', async () => {
    const ada = await world().signedIn()
    for (const teamType of ['software-development', 'content-creation', 'research', 'custom'])
      expect((await newProject(world(), ada, { teamType })).team_type).toBe(teamType)
  })

  it('#80 takes hexadecimal colours as they are, and no others', async () => {
    const ada = await world().signedIn()
    for (const color of ['#A1b2C3', '#000000', '#fff', '#FFF8', '#a1B2c3D4'])
      expect((await newProject(world(), ada, { color })).color).toBe(color)
    const others = ['red', '', 'A1b2C3', '#', '#a', '#ab', '#abcde', '#abcdefg', '#ggg', ' #fff', 'rgb(0,0,0)', 255]
    await refuses(others.map((color) => ({ name: 'A', color })))
  })

  it('#81 ignores an id, an owner and times that the client sends', async () => {
    const [ada, bob] = [await world().signedIn(), await world().signedIn()]
    const time = '2000-01-01T00:00:00.000Z'
    const sent = { id: unknownId, user_id: bob.id, userId: bob.id, created_at: time, updated_at: time, agents: 9, x: 1 }
    const { status, body } = await create(ada, { name: 'A', ...sent })
    expect([status, body]).toEqual([200, { ...fields, user_id: ada.id }])
    expect(body.id).not.toBe(unknownId)
    expect(body.created_at).not.toBe(time)
    expect([await list(ada), await list(bob)]).toEqual([[body], []])
  })

  it('#82 reads an own project', async () => {
    const ada = await world().signedIn()
    const project = await newProject(world(), ada, { description: 'd' })
    for (const id of [project.id, project.id.toUpperCase()]) {
      const { status, body } = await ask('GET', `/api/projects/${id}`, { as: ada })
      expect([status, body]).toEqual([200, project])
    }
  })

  const missing = { error: 'There is no such project' }

  it('#83 answers 404 where there is none', async () => {
    const { status, body } = await ask('GET', `/api/projects/${unknownId}`, { as: await world().signedIn() })
    expect([status, body]).toEqual([404, missing])
  })

  it("#84 answers 404 for somebody else's, to administrators as well", async () => {
    const { id } = await newProject(world(), await world().signedIn())
    for (const role of ['user', 'developer', 'admin'] as const) {
      const { status, body } = await ask('GET', `/api/projects/${id}`, { as: await world().signedIn(role) })
      expect([status, body]).toEqual([404, missing])
    }
    expect((await ask('GET', `/api/projects/${id}`)).status).toBe(401)
  })

  it('#85 answers 404 for an id that can be none', async () => {
    const ada = await world().signedIn()
    for (const id of lostIds) {
      const { status, body } = await ask('GET', `/api/projects/${id}`, { as: ada })
      expect([id, status, body]).toEqual([id, 404, missing])
    }
  })

  it('takes team_type where teamType is absent, and null for absent', async () => {
    const ada = await world().signedIn()
    expect((await newProject(world(), ada, { team_type: 'research' })).team_type).toBe('research')
    expect((await newProject(world(), ada, { team_type: 'research', teamType: 'custom' })).team_type).toBe('custom')
    // The shown name is there, so the other is not read.
    expect((await newProject(world(), ada, { team_type: 'research', teamType: null })).team_type).toBe('custom')
    expect((await create(ada, { name: 'A', team_type: 'wrong' })).status).toBe(400)
    const nulls = await newProject(world(), ada, { teamType: null, color: null, description: null })
    expect(nulls).toMatchObject({ team_type: 'custom', color: '#64748b', description: null })
  })

  it('takes names of up to 1,000 characters', async () => {
    const ada = await world().signedIn()
    const name = 'x'.repeat(1_000)
    expect((await newProject(world(), ada, { name })).name).toBe(name)
    expect((await create(ada, { name: `${name}x` })).status).toBe(400)
  })

  it('takes a body that begins with a byte order mark', async () => {
    const { status, body } = await ask('POST', '/api/projects', {
      as: await world().signedIn(),
      body: '\ufeff{"name":"A"}',
    })
    expect([status, body]).toMatchObject([200, { name: 'A' }])
  })

  it('lists in pages as well, which are the whole list together', async () => {
    const ada = await world().signedIn()
    for (let i = 0; i < 5; i++) await newProject(world(), ada, { name: `${i}` })
    const all = await list(ada)
    expect(await pagesOf(world(), ada, '/api/projects', 2)).toEqual([all.slice(0, 2), all.slice(2, 4), all.slice(4)])
    expect(await pagesOf(world(), ada, '/api/projects', 5)).toEqual([all])
    for (const limit of ['0', '501', '-1', '1.5', 'x', ''])
      expect([limit, (await ask('GET', `/api/projects?limit=${limit}`, { as: ada })).status]).toEqual([limit, 400])
    for (const after of ['zzz', '0', `${all[0]!.id}x`, encodeURIComponent('\u{10ffff}')])
      expect([after, (await ask('GET', `/api/projects?after=${after}`, { as: ada })).status]).toEqual([after, 400])
    // What was deleted meanwhile is left out, also where the next page begins.
    await ask('DELETE', `/api/projects/${all[1]!.id}`, { as: ada })
    const after = await ask('GET', `/api/projects?after=${all[1]!.id}`, { as: ada })
    expect([after.status, after.body]).toEqual([200, all.slice(2)])
  })
})
