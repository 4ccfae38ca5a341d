import { describe, expect, it } from 'vitest'
import { lookUp, scriptedTask } from '../../../test/support/agent.js'
import { chunk, streamed } from '../../../test/support/gateway.js'

describe('a task', () => {
  it('is done: its output is the last answer, its draft and reason are gone', async () => {
    const { run, read, chats, told } = await scriptedTask()
    const { tool, asked } = lookUp()
    const outcome = await run({ tools: [tool], instructions: 'Be brief.' })
    const task = await read()
    expect(outcome).toEqual({ status: 'done', task })
    expect(task).toMatchObject({ status: 'done', output: 'The result: It is sunny in Oslo', draft_output: null })
    expect(asked).toEqual(['Oslo'])
    const [first, second] = chats()
    expect(first!.map(({ role }) => role)).toEqual(['system', 'user'])
    expect(first![0]!['content']).toMatch(/^You are Developer \(Writes and changes code\).*"Website"[^]*Be brief\.$/)
    expect(first![1]!['content']).toBe('# Weather\n\nOf Oslo')
    expect(second!.slice(2)).toMatchObject([
      { role: 'assistant', content: 'Let me look.', tool_calls: [{ id: 'call_a' }] },
      { role: 'tool', tool_call_id: 'call_a', content: 'It is sunny in Oslo' },
    ])
    expect(
      told('text')
        .map(({ text }) => text)
        .join(''),
    ).toBe('Let me look.The result: It is sunny in Oslo')
    expect(told('cost').at(-1)).toMatchObject({ requests: 2, tokens: 60 })
  })

  it('that requires approval waits for it, and is written again with the comments', async () => {
    const { run, change, read, chats } = await scriptedTask(undefined, { requiresUserApproval: true })
    const { tool } = lookUp()
    expect(await run({ tools: [tool] })).toMatchObject({ status: 'waiting_approval' })
    const draft_output = 'The result: It is sunny in Oslo'
    expect(await read()).toMatchObject({ status: 'waiting_approval', draft_output, output: null })
    await change({ status: 'scheduled', review_comments: 'Say when.' })
    await run({ tools: [tool] })
    expect(chats()[2]![1]!['content']).toBe(
      `# Weather\n\nOf Oslo\n\n## Last draft\n\n${draft_output}\n\n## What was said about the last draft\n\nSay when.`,
    )
  })

  it('is reviewed by others, each of whom gets the draft of the one before', async () => {
    const { run, chats, told } = await scriptedTask((results) => ({ text: `Text ${results.length}`, calls: [] }))
    const reviewer = { name: 'Reviewer', model: 'gpt-4o-mini', instructions: 'Be strict.' }
    await run({ reviewer })
    expect(chats()[1]![0]!['content']).toMatch(/^You are Reviewer in[^]*Review the draft[^]*Be strict\.$/)
    expect(chats()[1]![1]!['content']).toBe('# Weather\n\nOf Oslo\n\n## Draft\n\nText 0')
    expect(told('step').map(({ agent, model }) => [agent, model])).toEqual([
      ['Developer', 'gpt-4o'],
      ['Reviewer', 'gpt-4o-mini'],
    ])
  })

  it('that is not as it was read is of somebody else', async () => {
    const { run, task, change, upstream, told } = await scriptedTask()
    await change({ draft_output: 'Mine' })
    expect(await run({ task })).toEqual({ status: 'taken' })
    expect([upstream.requests, told('end')]).toEqual([[], [{ type: 'end', status: 'taken' }]])
  })

  it('is stored while it grows, not more often than six times in a lease', async () => {
    const { run, state, told } = await scriptedTask()
    const pieces = Array.from({ length: 20 }, (_, i) => [
      chunk(`${i} `),
      new Promise((resolve) => setTimeout(resolve, 30 * i)),
    ]).flat()
    state.fault = () => streamed(...pieces, chunk('end', 'stop'), '[DONE]')
    const begun = performance.now()
    expect(await run()).toMatchObject({ status: 'done' })
    const drafts = told('stored').map(({ task }) => task.draft_output ?? '')
    const beats = (performance.now() - begun) / 117
    expect(drafts.length).toBeGreaterThan(3)
    expect(drafts.length).toBeLessThanOrEqual(beats + 1)
    for (const draft of drafts.slice(0, -1))
      expect('0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 end').toContain(draft)
  })

  it('threat 102: of somebody who was thought dead is not stored over that of the other', async () => {
    const { run, read, change } = await scriptedTask()
    const { tool } = lookUp(async () => {
      await change({ draft_output: 'Of the other' })
      await new Promise((resolve) => setTimeout(resolve, 5_000))
    })
    expect(await run({ tools: [tool] })).toEqual({ status: 'taken' })
    expect(await read()).toMatchObject({ status: 'running', draft_output: 'Of the other' })
  })

  it('is given back when the signal aborts, with its draft', async () => {
    const { run, read } = await scriptedTask()
    const controller = new AbortController()
    const { tool } = lookUp(() => (controller.abort(), new Promise(() => undefined)))
    expect(await run({ tools: [tool], signal: controller.signal })).toMatchObject({ status: 'scheduled' })
    expect(await read()).toMatchObject({ status: 'scheduled', draft_output: 'Let me look.' })
  })

  it('ends quietly when its project is deleted', async () => {
    const { run, turnpike, project, told } = await scriptedTask()
    const { tool } = lookUp(() => turnpike.delete('/api/projects/{id}', { params: { id: project.id } }))
    expect(await run({ tools: [tool] })).toEqual({ status: 'deleted' })
    expect(told('end')).toEqual([{ type: 'end', status: 'deleted' }])
  })

  it('is given up where the platform cannot be reached', async () => {
    const { run, faults, state } = await scriptedTask()
    state.fault = () => streamed(chunk('A'), new Promise(() => undefined))
    const outcome = run()
    await new Promise((resolve) => setTimeout(resolve, 150))
    faults.push(({ method }) => (method === 'PATCH' ? new TypeError('fetch failed') : undefined))
    expect(await outcome).toEqual({ status: 'lost', reason: 'fetch failed' })
  })
})

describe('a task fails with its draft and the reason', () => {
  const failing = async (
    at: Awaited<ReturnType<typeof scriptedTask>>,
    options: Parameters<typeof at.run>[0] = {},
  ): Promise<string> => {
    const outcome = await at.run({ tools: [lookUp().tool], ...options })
    const { status, draft_output } = await at.read()
    expect([outcome.status, status]).toEqual(['failed', 'failed'])
    expect(draft_output).toContain(`> Failed: ${(outcome as { reason: string }).reason}`)
    return draft_output!
  }

  it.each([
    ['steps', { steps: 1 }, 'It took more than 1 steps'],
    ['tokens', { tokens: 10 }, 'The task has used its 10 tokens'],
    ['dollars', { dollars: 0.000_01 }, 'The task has used its budget of $0.00001'],
  ])('at a limit of %s', async (_, limits, reason) => {
    expect(await failing(await scriptedTask(), { limits })).toBe(`Let me look.\n\n> Failed: ${reason}`)
  })

  it('threat 103: where those who worked on it before have used its budget', async () => {
    const at = await scriptedTask()
    const limits = { tokens: 100 }
    const controller = new AbortController()
    const { tool } = lookUp(() => (controller.abort(), 'Sunny'))
    await at.run({ limits, tools: [tool], signal: controller.signal })
    await at.run({ limits, tools: [lookUp().tool] })
    await at.change({ output: null, status: 'running' })
    const before = at.upstream.requests.length
    at.state.script = () => ({ text: '', calls: [{ id: 'a', name: 'look_up_weather', input: { city: 'Oslo' } }] })
    await at.run({ limits: { tokens: 60 }, tools: [lookUp().tool] })
    await failing(at, { limits: { tokens: 60 } })
    expect(at.upstream.requests.length - before).toBe(2)
  })

  it('threat 103: where the agent before has used its budget, which a reviewer without one shares', async () => {
    const at = await scriptedTask((results) => ({ text: `Text ${results.length}`, calls: [] }))
    const reviewer = { name: 'Reviewer', model: 'gpt-4o-mini' }
    const draft = await failing(at, { limits: { tokens: 10 }, reviewer })
    expect(draft).toBe('Text 0\n\n> Failed: The task has used its 10 tokens')
    expect(at.upstream.requests).toHaveLength(1)
  })

  it('at a limit of seconds, in which approval does not count', async () => {
    const at = await scriptedTask()
    at.state.fault = ({ body }) =>
      (body as { messages: unknown[] }).messages.length > 2
        ? streamed(chunk('So far'), new Promise(() => undefined))
        : undefined
    const approve = () => new Promise<boolean>((resolve) => setTimeout(resolve, 500, true))
    const draft = await failing(at, { limits: { seconds: 0.3 }, approve })
    expect([draft, at.told('result').length]).toEqual(['So far\n\n> Failed: It took longer than 0.3 seconds', 1])
  })

  it('without a model, and where the model says nothing or is cut off', async () => {
    const at = await scriptedTask(() => ({ text: '', calls: [] }))
    expect(await failing(at, { model: undefined as never })).toBe('> Failed: Developer has no model')
    expect(await failing(at)).toBe('> Failed: The model ended without a text')
    at.state.fault = () => streamed(chunk('A lon', 'length'), '[DONE]')
    expect(await failing(at)).toBe('A lon\n\n> Failed: The answer is longer than the model may write')
    // The reason is no part of the draft, for the next try and the model.
    expect(at.chats().at(-1)![1]!['content']).toBe('# Weather\n\nOf Oslo')
    at.state.fault = undefined
    at.state.script = () => ({ text: 'Done', calls: [] })
    await at.run()
    expect(at.chats().at(-1)![1]!['content']).toBe('# Weather\n\nOf Oslo\n\n## Last draft\n\nA lon')
  })

  it('where the request is refused', async () => {
    expect(
      await failing(await scriptedTask(), { model: 'gpt-4o', tools: [{ ...lookUp().tool, name: 'no name' }] }),
    ).toMatch(/^> Failed: .*name/)
  })
})
