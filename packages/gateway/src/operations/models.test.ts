import { createRouter, openai } from '@turnpike/providers'
import { fakeOpenAI } from '@turnpike/providers/testing'
import { expect, it } from 'vitest'
import { withKey } from '../../../../test/support/gateway.js'

it('groups of models are listed, in place of models of the same name', async () => {
  const router = createRouter({
    providers: [openai({ apiKey: 'sk', transport: fakeOpenAI().transport })],
    groups: { fast: ['gpt-4o-mini'], 'gpt-5': ['gpt-4o'] },
  })
  const { ask, send, init } = await withKey({}, { router })
  const get = async (path: string): Promise<unknown> => (await send('GET', path, undefined, init)).json()
  const { data } = (await get('/v1/models')) as { data: { id: string; owned_by: string }[] }
  expect(data.filter(({ owned_by }) => owned_by === 'turnpike')).toEqual([
    expect.objectContaining({ id: 'fast', object: 'model', provider: 'openai', members: ['openai/gpt-4o-mini'] }),
    expect.objectContaining({ id: 'gpt-5' }),
  ])
  expect(data.filter(({ id }) => id === 'gpt-5')).toHaveLength(1)
  expect(await get('/v1/models?provider=openai')).toEqual({ object: 'list', data })
  for (const model of data.slice(0, 2)) {
    expect(await get(`/v1/models/${model.id}`)).toEqual(model)
    expect((await ask({ model: model.id })).status).toBe(200)
  }
})
