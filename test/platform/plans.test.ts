import { expect, it } from 'vitest'
import type { Project } from './work.js'
import { lostIds, made, newProject } from './work.js'
import type { Reply, SignedIn, World } from './world.js'
import { unknownId, worldSuite } from './world.js'

const agentsOf: Record<string, number> = { 'software-development': 3, 'content-creation': 3, research: 3, custom: 1 }

/** What the plan and the extras of the balance allow; and the teams, whose agents count. */
worldSuite(
  'plans and teams',
  (world) => {
    const ask: World['ask'] = (...request) => world().ask(...request)
    const create = (as: SignedIn, teamType = 'custom'): Promise<Reply<Project>> =>
      ask<Project>('POST', '/api/projects', { as, body: { name: 'A', teamType } })
    const changeTeam = (as: SignedIn, id: string, teamType: string): Promise<Reply<Project>> =>
      ask<Project>('PATCH', `/api/projects/${id}`, { as, body: { teamType } })
    const remove = async (as: SignedIn, id: string): Promise<number> =>
      (await ask('DELETE', `/api/projects/${id}`, { as })).status
    const list = async (as: SignedIn): Promise<Project[]> => made(await ask<Project[]>('GET', '/api/projects', { as }))
    const give = async (to: SignedIn, extras: object): Promise<void> => {
      const as = await world().signedIn('admin')
      made(await ask('PATCH', `/api/users/${to.id}/balance`, { as, body: extras }))
    }
    const tooManyProjects = [403, { error: 'Your plan has 4 projects, and this would be more' }]
    const tooManyAgents = [403, { error: 'Your plan has 7 agents, and this would be more' }]
    const answer = ({ status, body }: Reply<Project>) => [status, body]

    it('refuses a project more than the plan has, until one is deleted or there are extras', async () => {
      const ada = await world().signedIn()
      expect((await ask('GET', '/api/account/limits', { as: ada })).body).toMatchObject({ projects: 4, agents: 7 })
      for (let i = 0; i < 4; i++) expect((await create(ada)).status).toBe(200)
      expect(answer(await create(ada))).toEqual(tooManyProjects)
      const before = await list(ada)
      expect(before).toHaveLength(4)
      // A change is none more, and what is foreign is not counted.
      expect((await ask('PATCH', `/api/projects/${before[0]!.id}`, { as: ada, body: { name: 'B' } })).status).toBe(200)
      expect((await create(await world().signedIn())).status).toBe(200)
      expect(await remove(ada, before[0]!.id)).toBe(204)
      expect([(await create(ada)).status, (await create(ada)).status]).toEqual([200, 403])
      await give(ada, { extraProjects: 1 })
      expect((await ask('GET', '/api/account/limits', { as: ada })).body).toMatchObject({ projects: 5, agents: 7 })
      expect([(await create(ada)).status, (await create(ada)).status]).toEqual([200, 403])
      expect(await list(ada)).toHaveLength(5)
    })

    it('refuses a team of more agents than the plan has left', async () => {
      const ada = await world().signedIn()
      const [first, second, third] = [
        made(await create(ada, 'research')),
        made(await create(ada, 'software-development')),
        made(await create(ada)),
      ]
      expect(answer(await create(ada))).toEqual(tooManyAgents)
      expect(answer(await changeTeam(ada, third.id, 'research'))).toEqual(tooManyAgents)
      expect(await list(ada)).toEqual([third, second, first])
      // A team of as many, of fewer, and what is free then.
      expect((await changeTeam(ada, first.id, 'content-creation')).status).toBe(200)
      expect((await changeTeam(ada, first.id, 'custom')).status).toBe(200)
      expect([(await changeTeam(ada, third.id, 'research')).status, (await create(ada)).status]).toEqual([200, 403])
      expect(await remove(ada, second.id)).toBe(204)
      expect([(await create(ada, 'research')).status, (await create(ada)).status]).toEqual([200, 403])
      await give(ada, { extraAgents: 1 })
      expect([(await create(ada)).status, (await list(ada)).length]).toEqual([200, 4])
      expect(await world().call('verify')).toEqual([])
    })

    it('never has more than the plan, also when many are made at once', async () => {
      const ada = await world().signedIn()
      const statuses = async (replies: Promise<Reply<Project>>[]) =>
        (await Promise.all(replies)).map(({ status }) => status).toSorted()
      expect(await statuses(Array.from({ length: 12 }, () => create(ada)))).toEqual([
        ...Array<number>(4).fill(200),
        ...Array<number>(8).fill(403),
      ])
      const [one, two, three] = (await list(ada)) as [Project, Project, Project]
      // Of 7 agents 4 are taken, and each change takes 2 more.
      expect(await statuses([one, two, three].map(({ id }) => changeTeam(ada, id, 'research')))).toEqual([
        200, 403, 403,
      ])
      const taken = (await list(ada)).map(({ team_type }) => agentsOf[team_type]!)
      expect(taken.reduce((sum, agents) => sum + agents)).toBe(6)
      const ids = (await list(ada)).map(({ id }) => id)
      await Promise.all([...ids.map((id) => remove(ada, id)), ...ids.map(() => create(ada))])
      expect((await list(ada)).length).toBeLessThanOrEqual(4)
      expect(await world().call('verify')).toEqual([])
    })

    it('lists the teams, and tells that of a project', async () => {
      const ada = await world().signedIn()
      const { status, body } = await ask<{ type: string; agents: { id: number; name: string }[] }[]>(
        'GET',
        '/api/teams',
        { as: ada },
      )
      expect(status).toBe(200)
      expect(Object.fromEntries(body.map(({ type, agents }) => [type, agents.map(({ name }) => name)]))).toEqual({
        'software-development': ['Planner', 'Developer', 'Reviewer'],
        'content-creation': ['Editor', 'Writer', 'Illustrator'],
        research: ['Researcher', 'Analyst', 'Writer'],
        custom: ['Assistant'],
      })
      const role: unknown = expect.stringMatching(/\S/)
      for (const { agents } of body)
        expect(agents).toEqual(agents.map(({ name }, i) => ({ id: i + 1, name, role, model: null })))
      expect((await ask('GET', '/api/teams')).status).toBe(401)

      const { id } = await newProject(world(), ada)
      for (const team of body) {
        expect((await changeTeam(ada, id, team.type)).status).toBe(200)
        const own = await ask('GET', `/api/projects/${id.toUpperCase()}/team`, { as: ada })
        expect([own.status, own.body]).toEqual([200, team])
      }
      for (const as of [await world().signedIn(), await world().signedIn('admin')])
        for (const lost of [id, unknownId, ...lostIds])
          expect([lost, (await ask('GET', `/api/projects/${lost}/team`, { as })).status]).toEqual([lost, 404])
    })
  },
  { PLAN_PROJECTS: '4', PLAN_AGENTS: '7' },
)
