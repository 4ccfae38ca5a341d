/** What people do in the world of the pictures, from two weeks ago until now. @module */
import { createRequire } from 'node:module'
import { pass, setClock } from './clock.mjs'
import { BEFORE, CHART, DRAFT, FILES, TASKS } from './texts.mjs'

/** The library of pictures, which the reference server has. */
export const sharp = createRequire(new URL('../../examples/server/package.json', import.meta.url))('sharp')

export const PASSWORD = 'the password of the pictures'
export const PEOPLE = {
  ada: { email: 'ada@example.org', firstName: 'Ada', lastName: 'Moreno', role: 'admin' },
  nora: { email: 'nora@example.org', firstName: 'Nora', lastName: 'Lindqvist', role: 'developer' },
  ben: { email: 'ben@example.org', firstName: 'Ben', lastName: 'Okafor', role: 'developer' },
  mia: { email: 'mia@example.org', firstName: 'Mia', lastName: 'Tanaka', role: 'user' },
}
/** How many days it has. */
export const DAYS = 14
const DAY_MS = 86_400_000
const HOUR_MS = 3_600_000
const MINUTE_MS = 60_000

/** Numbers from 0 to 1 that are the same in each run. */
function sequence(seed) {
  return () => {
    seed = (Math.imul(seed, 1_664_525) + 1_013_904_223) >>> 0
    return seed / 2 ** 32
  }
}

/** What may happen to a request: the faults of the vendors that it meets. */
const FAULTS = [
  { 'api.openai.com': [[429, 'Rate limit reached for requests. Please try again in 2s.', 'rate_limit_exceeded']] },
  { 'api.openai.com': [[503, 'The engine is currently overloaded, please try again later', null]] },
  { 'api.anthropic.com': [[529, 'Overloaded', 'overloaded_error']] },
  { 'api.openai.com': [[400, 'Invalid value for messages[0].content: the image could not be read.', 'invalid_value']] },
]

/** The first day. @returns the keys, projects and tasks that are made */
export async function settle({ as, now }) {
  const ada = as('ada')
  const account = await ada('GET', '/api/account')
  await ada('PATCH', `/api/users/${account.id}`, { firstName: 'Ada', lastName: 'Moreno' })
  for (const person of [PEOPLE.nora, PEOPLE.ben, PEOPLE.mia])
    await ada('POST', '/api/users', { ...person, password: PASSWORD })
  const [nora, ben] = [as('nora'), as('ben')]
  const keys = {
    production: await nora('POST', '/api/keys', {
      name: 'Production',
      rateLimit: 300,
      budget: { usd: 40, per: 'month' },
    }),
    support: await nora('POST', '/api/keys', {
      name: 'Support bot',
      models: ['fast'],
      budget: { usd: 5, per: 'day' },
      endUsers: { budget: { usd: 1, per: 'day' } },
    }),
    notebook: await ben('POST', '/api/keys', {
      name: 'Notebook',
      expiresAt: new Date(now + 20 * DAY_MS).toISOString(),
    }),
    old: await ben('POST', '/api/keys', { name: 'Experiment' }),
  }
  const create = (who, name, teamType, color, description) =>
    who('POST', '/api/projects', { name, teamType, color, description })
  const project = await create(
    ada,
    'Website relaunch',
    'content-creation',
    '#0d9488',
    'New words and pictures for every page, by **12 December**.',
  )
  const research = await create(
    ada,
    'Pricing research',
    'research',
    '#6366f1',
    'What people expect to pay, and for what.',
  )
  await create(ada, 'Mobile app', 'software-development', '#d97706')
  await create(nora, 'Support answers', 'custom', '#db2777')
  const own = { ada: await ada('POST', '/api/keys', { name: 'Scripts' }) }
  const tasks = []
  for (const [title, agent] of TASKS) {
    pass(60_000)
    tasks.push(
      await ada('POST', '/api/tasks', {
        projectId: project.id,
        title,
        assignedAgentId: agent,
        requiresUserApproval: agent !== 1,
        ...(tasks.length === 0 && {
          description:
            'Say **what it does** in the first line, and what it costs in the second.\n\n- [x] Read the interviews\n- [ ] Three versions\n- [ ] One that fits a phone',
        }),
      }),
    )
  }
  for (const title of [
    'Interview six customers',
    'Compare twelve price lists',
    'What a request costs us',
    'Report for the board',
  ])
    await ada('POST', '/api/tasks', { projectId: research.id, title, assignedAgentId: 1 })
  for (const [name, [type, text]] of Object.entries(FILES)) await upload(ada, name, type, text)
  await upload(ada, 'visits.png', 'image/png', await sharp(Buffer.from(CHART)).png().toBuffer())
  return { keys, own, project, research, tasks }
}

async function upload(who, name, type, bytes) {
  const form = new FormData()
  form.append('file', new Blob([bytes], { type }), name)
  return who('POST', '/api/user-files', form)
}

/** All that happens then, until now. */
export async function work({ as, send, script, now }, { keys, own, project, research, tasks }) {
  const random = sequence(43)
  const pick = (list) => list[Math.floor(random() * list.length)]
  const models = [
    'gpt-5-mini',
    'gpt-5-mini',
    'gpt-5.1',
    'claude-sonnet-4-5',
    'claude-sonnet-4-5',
    'claude-haiku-4-5',
    'gemini-2.5-flash',
  ]
  const times = []
  for (let day = 0; day < DAYS; day++) {
    const weekend = [0, 6].includes(new Date(now - (DAYS - day) * DAY_MS).getUTCDay())
    const count = Math.round((weekend ? 8 : 26) * (0.75 + day / 24 + random() / 4))
    for (let i = 0; i < count; i++)
      times.push(now - (DAYS - day) * DAY_MS + (4 + 19 * ((random() + random()) / 2)) * HOUR_MS)
  }
  for (let i = 0; i < 24; i++) times.push(now - 2 * HOUR_MS + i * 290_000)
  const ask = async (key, model, question, headers = {}) => {
    const fault = random() < 0.07 ? pick(FAULTS) : {}
    script.wait = 250 + random() ** 3 * 2_400
    script.faults = structuredClone(fault)
    const stream = random() < 0.6
    const { endUser, ...sent } = headers
    const body = { model, stream, messages: [{ role: 'user', content: question }], ...(endUser && { user: endUser }) }
    await send(key, 'POST', '/v1/chat/completions', body, sent)
  }
  const questions = [
    'Summarise the visits of the last two weeks. '.repeat(40),
    'Which questions come up in the interviews? '.repeat(90),
    'Write three headlines for the page.',
    'Compare the plans with what visitors expect. '.repeat(20),
  ]
  const requests = async (until) => {
    for (const time of times.filter((time) => time > Date.now() && time < until)) {
      setClock(time)
      const kind = random()
      const question = pick(questions)
      if (kind < 0.4) await ask(keys.production.key, pick(models), question)
      else if (kind < 0.55)
        await ask(keys.support.key, 'fast', question, { endUser: pick(['anna', 'joao', 'priya', 'sam']) })
      else if (kind < 0.65) await ask(keys.notebook.key, pick(['gpt-5.1', 'gemini-2.5-pro']), question)
      else if (kind < 0.69) await ask(keys.support.key, 'gpt-5.1', question)
      else
        await ask(own.ada.key, pick(models), question, {
          'x-project-id': pick([project.id, project.id, research.id]),
          ...(kind < 0.9 && { 'x-project-id': project.id, 'x-task-id': pick(tasks.slice(0, 14)).id }),
        })
    }
    setClock(until)
  }
  times.sort((a, b) => a - b)
  await requests(now - 3 * HOUR_MS)
  await doTasks(as, { keys, tasks })
  await requests(now - 25 * MINUTE_MS)
  await converse({ as, script }, project)
  await requests(now - MINUTE_MS)
}

/** The board as it stands now. */
async function doTasks(as, { keys, tasks }) {
  const [ada, ben] = [as('ada'), as('ben')]
  const set = (task, fields) => {
    pass(2 * MINUTE_MS)
    return ada('PATCH', `/api/tasks/${task.id}`, fields)
  }
  for (const [i, [, , status]] of TASKS.entries()) {
    if (status === 'scheduled') continue
    const task = tasks[i]
    await set(task, { status: 'running' })
    if (i === 0) await set(task, { output: BEFORE })
    if (status === 'waiting_approval')
      await set(task, { status, draft_output: i === 0 ? DRAFT : 'A first version, to be looked at.' })
    else if (status === 'done')
      await set(task, { status, output: 'Done as agreed: short, plain, and in the words of the **style guide**.' })
    else if (status === 'failed') await set(task, { status })
  }
  await ben('DELETE', `/api/keys/${keys.old.id}`)
}

/** What is asked in the conversation of a project. */
async function converse({ as, script }, project) {
  const ada = as('ada')
  script.wait = 700
  script.faults = {}
  const say = (text) =>
    ada('POST', `/api/projects/${project.id}/conversation/messages`, { text }, { accept: 'text/event-stream' })
  await say('Which headlines would you try first?')
  pass(3 * MINUTE_MS)
  await say('Compare the three plans of the pricing page, and say what people stumble over.')
}
