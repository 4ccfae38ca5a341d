import { runTask } from '@turnpike/agent'
import type { Client } from '@turnpike/client'
import { createClient } from '@turnpike/client'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import type { FamiliesStack } from '../clients/families-stack.js'
import { models, startFamilies } from '../clients/families-stack.js'
import type { Script } from '../clients/scripted-upstream.js'
import { lookUp } from '../support/agent.js'
import { answer } from '../support/gateway.js'
import { runtime } from '../support/runtime.js'

/** Groups of models whose first ones fail, one more with each step. */
const groups = {
  first: ['claude-sonnet-4-5', 'gemini-3-flash-preview', 'gpt-4o-mini'],
  second: ['gpt-4o-mini', 'claude-sonnet-5', 'gemini-2.5-flash'],
  third: ['gemini-3-flash-preview', 'gpt-4o-mini', 'claude-opus-4-8'],
}
/** Who is asked at a path. */
const vendorOf = ({ path }: { path: string }): string =>
  path.endsWith('/v1/messages') ? 'claude' : path.includes(':streamGenerateContent') ? 'gemini' : 'gpt'

/** Two calls at once, then another, then a text. What vendors refuse, the fakes behind it do. */
const script: Script = (results) => {
  const call = (city: string) => ({ id: city.toLowerCase(), name: 'look_up_weather', input: { city } })
  if (results.length === 0) return { text: 'Let me look.', calls: [call('Oslo'), call('Lima')] }
  return results.length === 2 ? { text: '', calls: [call('Rome')] } : { text: results.join(', '), calls: [] }
}

let stack: FamiliesStack
let client: Client
let projectId: string
beforeAll(async () => {
  const written = Object.entries(groups).map(([name, members]) => `${name}=${members.join()}`)
  stack = await startFamilies({ MODEL_GROUPS: written.join(';') })
  client = createClient({ baseUrl: stack.server.url })
  await client.signIn({ email: 'admin@localhost', password: 'the password of the tests' })
  projectId = (await client.post('/api/projects', { body: { name: 'Website' } })).id
})
afterAll(() => stack.stop())
beforeEach(() => {
  stack.script = script
  stack.fault = undefined
})

/** Does a task, three of whose calls are run but the second refused. */
async function run(model: string, before: (step: number) => void = () => undefined) {
  const task = await client.post('/api/tasks', { body: { projectId, title: 'Weather' } })
  const { tool, asked } = lookUp()
  let steps = 0
  const outcome = await runTask({
    client,
    task,
    model,
    tools: [tool],
    approve: ({ args }) => (args as { city: string }).city !== 'Lima',
    onEvent: ({ type }) => type === 'step' && before(++steps),
  })
  expect(outcome).toMatchObject({
    status: 'done',
    task: { output: 'It is sunny in Oslo, This call was refused, It is sunny in Rome' },
  })
  expect(asked).toEqual(['Oslo', 'Rome'])
  return { task, steps }
}

describe(`a task with tools, against ${runtime}`, () => {
  it.each(models)('is done by $model', async ({ model, vendor }) => {
    const before = stack.upstreams[vendor].requests.length
    const { task, steps } = await run(model)
    expect([steps, stack.upstreams[vendor].requests.length - before]).toEqual([3, 3])
    expect(await client.get('/api/tasks/{id}/spend', { params: { id: task.id } })).toMatchObject({ requests: 3 })
  })

  it('has its calls sent back with their signatures, where they have some', async () => {
    await run('gemini-3-flash-preview')
    const sent = JSON.stringify(stack.upstreams.google.requests.at(-1)!.body)
    expect(sent.match(/(?<="thoughtSignature":")[^"]*/g)).toEqual([btoa('oslo'), btoa('rome')])
  })

  it.each(Object.entries(groups))('goes on with another vendor where one is down: %s', async (group, members) => {
    const order = members.map((model) => model.split('-')[0]!)
    const down = answer({ error: { type: 'overloaded_error', message: 'Overloaded' } }, 503)
    const answered: string[] = []
    await run(group, (step) => {
      stack.fault = (request) => {
        const vendor = vendorOf(request)
        if (order.indexOf(vendor) < step - 1) return down
        answered.push(vendor)
        return undefined
      }
    })
    expect(answered).toEqual(order)
  })
})
