import { beforeAll, describe, expect, it } from 'vitest'
import type { Owner } from './requests.js'
import { documented, newOwner, requestsOf } from './requests.js'
import type { SignedIn } from './world.js'
import { worldSuite } from './world.js'

interface Case {
  /** Fields that would show if the route took them from a prototype. */
  inherited: object
  /** The status of `{}`. */
  empty: number
  /** The fields that it may take, or refuses. */
  takes: string[]
}

const credits = ['creditCoins', 'credit_coins']
const quotas = ['storageGb', 'storage_gb', 'extraProjects', 'extra_projects', 'extraAgents', 'extra_agents']
const ofProject = ['teamType', 'team_type', 'color', 'description']
const ofTask = ['assignedAgentId', 'assigned_agent_id', 'requiresUserApproval', 'requires_user_approval']
/** What is refused with a 400 that says where to go. */
const elsewhere = ['name', ...credits, ...quotas]
const tokens = ['tokenLimit', 'token_limit']
const ofKeys = [
  'name',
  'rateLimit',
  'rate_limit',
  ...tokens,
  'models',
  'budget',
  'endUsers',
  'end_users',
  'expiresAt',
  'expires_at',
]
const names = ['firstName', 'first_name', 'lastName', 'last_name', 'username']

/** Each route with a JSON body, typed by hand. */
const cases: Record<string, Case> = {
  'POST /api/auth': { inherited: { cookie: true }, empty: 400, takes: ['email', 'password', 'cookie'] },
  'PUT /api/auth': { inherited: {}, empty: 400, takes: ['refresh_token'] },
  'POST /api/auth/forgotten': { inherited: {}, empty: 400, takes: ['email'] },
  'POST /api/auth/sign-up': { inherited: {}, empty: 400, takes: ['email'] },
  'POST /api/invitations': {
    inherited: { role: 'admin', creditCoins: 7, extra_projects: 7 },
    empty: 400,
    takes: ['email', 'role', 'creditCoins', 'credit_coins', 'extraProjects', 'extra_projects'],
  },
  'POST /api/auth/link': { inherited: {}, empty: 400, takes: ['token'] },
  'PUT /api/auth/link': {
    inherited: { firstName: 'Eve', last_name: 'Eve' },
    empty: 400,
    takes: ['token', 'password', ...names],
  },
  'POST /api/auth/providers/{provider}': {
    inherited: { returnTo: '/eve' },
    empty: 404,
    takes: ['returnTo', 'return_to', 'token'],
  },
  'PATCH /api/account/role': { inherited: { role: 'user' }, empty: 400, takes: ['role'] },
  'PUT /api/account/password': { inherited: {}, empty: 400, takes: ['current', 'password'] },
  'PUT /api/users/{id}/password': { inherited: {}, empty: 400, takes: ['password'] },
  'POST /api/users': {
    inherited: { role: 'admin', firstName: 'Eve', username: 'eve' },
    empty: 400,
    takes: ['email', 'password', 'role', 'budget', ...tokens, ...names, ...elsewhere],
  },
  'PATCH /api/users/{id}': {
    inherited: { role: 'admin', last_name: 'Eve', username: 'eve' },
    empty: 200,
    takes: ['email', 'role', 'budget', ...tokens, ...names, 'password', ...elsewhere],
  },
  'PATCH /api/users/{id}/balance': {
    inherited: { storageGb: 7, extra_agents: 7 },
    empty: 200,
    takes: [...credits, ...quotas],
  },
  'POST /api/users/{id}/balance': {
    inherited: { storageGb: 7, extra_agents: 7 },
    empty: 200,
    takes: [...credits, ...quotas],
  },
  'POST /api/keys': {
    inherited: { rateLimit: 7, budget: { usd: 1 }, models: ['gpt-4o'], expires_at: '2030-01-02T03:04:05.000Z' },
    empty: 400,
    takes: ofKeys,
  },
  'PATCH /api/keys/{id}': {
    inherited: { rateLimit: 7, budget: { usd: 1 }, models: ['gpt-4o'], expires_at: '2030-01-02T03:04:05.000Z' },
    empty: 200,
    takes: ofKeys,
  },
  'PATCH /api/keys/{id}/end-users/{endUser}': {
    inherited: { rateLimit: 7, budget: { usd: 1 } },
    empty: 200,
    takes: ['budget', 'rateLimit', 'rate_limit'],
  },
  'POST /api/tokens': {
    inherited: { expires_at: '2030-01-02T03:04:05.000Z' },
    empty: 400,
    takes: ['name', 'scopes', 'expiresAt', 'expires_at'],
  },
  'POST /api/sessions': {
    inherited: { expires_at: '2030-01-02T03:04:05.000Z' },
    empty: 200,
    takes: ['label', 'metadata', 'expiresAt', 'expires_at'],
  },
  'POST /api/projects': {
    inherited: { teamType: 'research', color: '#666666', description: 'Eve' },
    empty: 400,
    takes: ['name', ...ofProject],
  },
  'PATCH /api/projects/{id}': {
    inherited: { team_type: 'research', color: '#666666', description: 'Eve' },
    empty: 200,
    takes: ['name', ...ofProject],
  },
  'PUT /api/projects/{id}/members': { inherited: {}, empty: 400, takes: ['email', 'role'] },
  'POST /api/projects/{id}/conversation/messages': {
    inherited: { role: 'system' },
    empty: 400,
    takes: ['text', 'role'],
  },
  'PATCH /api/user-files/{id}': {
    inherited: { displayName: 'Eve', is_public: false },
    empty: 200,
    takes: ['displayName', 'display_name', 'isPublic', 'is_public'],
  },
  'POST /api/tasks': {
    inherited: { description: 'Eve', assignedAgentId: 7, requires_user_approval: true },
    empty: 400,
    takes: ['projectId', 'project_id', 'title', 'description', ...ofTask],
  },
  'PATCH /api/tasks/{id}': {
    inherited: { output: 'Eve', draftOutput: 'Eve', review_comments: 'Eve' },
    empty: 200,
    takes: ['status', 'output', 'draft_output', 'draftOutput', 'review_comments', 'reviewComments'],
  },
}

/** What somebody might try to set: fields of the answers and of what is stored, and what other systems call them. */
const wished: Record<string, unknown> = {
  id: '00000000-0000-7000-8000-00000000ffff',
  user_id: '00000000-0000-7000-8000-00000000ffff',
  userId: '00000000-0000-7000-8000-00000000ffff',
  role: 'admin',
  is_admin: true,
  isAdmin: true,
  email: 'wished@example.org',
  name: 'wished',
  username: 'wished',
  first_name: 'wished',
  firstName: 'wished',
  label: 'wished',
  provider: 'wished',
  password: 'a wished password',
  hash: 'wished',
  credits: 777,
  creditCoins: 777,
  credit_coins: 777,
  used_before: -777,
  storage_gb: 777,
  budget: { usd: 777 },
  token_limit: 777,
  end_users: { rate_limit: 777 },
  endUser: 'wished',
  first_id: '00000000-0000-7000-8000-00000000ffff',
  models: ['wished'],
  key: 'gw-wished',
  rate_limit: 777,
  revoked: false,
  prompt_tokens: 777,
  total_tokens: 777,
  request_count: 777,
  cost_usd: 777,
  counter: 777,
  cookie: 'wished',
  refresh_token: 'wished',
  agents: 0,
  members: [{ email: 'wished@example.org', role: 'editor' }],
  accepted: true,
  team_type: 'research',
  teamType: 'research',
  color: '#666666',
  description: 'wished',
  projectId: '00000000-0000-7000-8000-00000000ffff',
  project_id: '00000000-0000-7000-8000-00000000ffff',
  title: 'wished',
  status: 'done',
  output: 'wished',
  draft_output: 'wished',
  draftOutput: 'wished',
  review_comments: 'wished',
  assigned_agent_id: 777,
  requiresUserApproval: true,
  result: '00000000-0000-7000-8000-00000000ffff',
  used: { tokens: -777 },
  text: 'wished',
  display_name: 'wished',
  isPublic: false,
  mime_type: 'text/html',
  size_bytes: 0,
  storage_key: 'wished',
  sha256: 'wished',
  inline: true,
  held: true,
  timestamp: '2000-01-01T00:00:00.000Z',
  incomplete: true,
  thread: '00000000-0000-7000-8000-00000000ffff',
  created_at: '2000-01-01T00:00:00.000Z',
  updated_at: '2000-01-01T00:00:00.000Z',
  deleted_at: '2000-01-01T00:00:00.000Z',
  signed_out_at: '2000-01-01T00:00:00.000Z',
  expires_at: '2000-01-01T00:00:00.000Z',
}

/** JSON of a body that has the keys `__proto__` and `constructor` as well. */
const poisoned = (body: object, inherited: object): string => {
  const text = JSON.stringify(inherited)
  return `${JSON.stringify(body).slice(0, -1)},"__proto__":${text},"constructor":{"prototype":${text}}}`
}

/** Whether something may be sent by mail. */
const isMailed = (path: string): boolean => /^\/api\/auth\/(sign-up|forgotten|link)/.test(path)

/** JSON without what differs each time: ids, times, secrets and e-mails. */
const plain = (value: unknown): unknown =>
  JSON.parse(
    JSON.stringify(value)
      .replaceAll(/[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}/g, 'id')
      .replaceAll(/20(?!00)\d\d-[\dT:.-]+Z/g, 'time')
      .replaceAll(/(?<=[:[])1[78]\d{8,11}(?=[,}\]])/g, '1')
      .replaceAll(/(?<=\\?"key_end\\?":\\?")[\w-]{4}/g, 'end')
      .replaceAll(/(person|made)-[\w-]+@/g, 'somebody@')
      .replaceAll(
        /\$scrypt\$[^"]*|(gw|tpt)-[\w-]{43}|[\w-]+\.[\w-]+\.[\w-]{86}|\b[\w-]{50}\b|\b[0-9a-f]{64}\b/g,
        'secret',
      ),
  )

worldSuite('bodies', (world) => {
  let admin: SignedIn
  beforeAll(async () => {
    admin = await world().signedIn('admin')
    // The first use of an access token is stored with the sign-in.
    await world().ask('GET', '/api/account', { as: admin })
  })

  const dump = () => world().call<[key: string[], value: unknown][]>('dump')

  /** What a route answers to a body, and what it changes in the store. */
  const outcome = async (route: string, bodyOf: (good: object) => string) => {
    const owner: Owner = await newOwner(world())
    const { path, body: good } = requestsOf(owner)[route]!
    const before = new Set((await dump()).map((entry) => JSON.stringify(entry)))
    const as = /^\/api\/(users|invitations)/.test(path) ? admin : owner
    const { status, body, headers } = await world().ask(route.split(' ')[0]!, path, { as, body: bodyOf(good!) })
    // Links are made after the answer, so that its time tells nothing of who has an account.
    if (isMailed(path)) await new Promise((resolve) => setTimeout(resolve, 500))
    const after = (await dump()).filter((entry) => !before.has(JSON.stringify(entry)))
    const stored = after.filter(([[kind]]) => kind !== 'user-count').map((entry) => JSON.stringify(plain(entry)))
    return { status, body: plain(body), cookies: headers.getSetCookie().length, stored: stored.toSorted() }
  }

  const cleans = new Map<string, ReturnType<typeof outcome>>()
  /** The outcome of a good body, asked for once. */
  const cleanOf = async (route: string) => {
    const clean = await (cleans.get(route) ?? cleans.set(route, outcome(route, JSON.stringify)).get(route)!)
    // There is no sign-in provider.
    expect(route.endsWith('{provider}') ? [404] : [200, 204]).toContain(clean.status)
    return clean
  }

  it('are those of all routes with a JSON body', () => {
    expect(Object.keys(cases).toSorted()).toEqual(documented('platform', { withJson: true }).toSorted())
  })

  describe('threat 12: prototype pollution', () => {
    it.each(Object.entries(cases))('%s', async (route, { inherited, empty }) => {
      const names = await world().call('prototype')
      const clean = await cleanOf(route)
      expect(await outcome(route, (good) => poisoned(good, inherited))).toEqual(clean)
      expect((await outcome(route, (good) => `{"__proto__":${JSON.stringify(good)}}`)).status).toBe(empty)
      expect(await world().call('prototype')).toEqual(names)
    })

    it('keeps such keys of metadata as what they are', async () => {
      const metadata = '{"a":{"__proto__":{"b":1}},"__proto__":{"c":2},"constructor":{"prototype":{"d":3}}}'
      const body = `{"metadata":${metadata},"__proto__":{"label":"x"}}`
      const made = await fetch(`${world().url}/api/sessions`, {
        method: 'POST',
        headers: { authorization: `Bearer ${admin.access}`, 'content-type': 'application/json' },
        body,
      })
      const text = await made.text()
      expect([made.status, text]).toEqual([200, expect.stringContaining(`"metadata":${metadata}`)])
      expect(text).toContain('"label":null')
    })
  })

  it.each(Object.entries(cases))('threat 17: mass assignment, %s', async (route, { takes }) => {
    const extra = Object.fromEntries(Object.entries(wished).filter(([name]) => !takes.includes(name)))
    const clean = await cleanOf(route)
    expect(await outcome(route, (good) => JSON.stringify({ ...extra, ...good }))).toEqual(clean)
  })

  it('threat 40: small bodies that take much work, to a sign-in, which anybody may send', async () => {
    for (const method of ['POST', 'PUT']) {
      const body = { email: 'ada@example.org', password: 'x'.repeat(16 * 1024) }
      expect((await world().ask(method, '/api/auth', { body })).status).toBe(413)
    }
  })
})
