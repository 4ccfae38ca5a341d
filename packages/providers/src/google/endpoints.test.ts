import type { Provider } from '@turnpike/core'
import { expect, it } from 'vitest'
import { google, googleEndpoints } from './index.js'

const { signal } = new AbortController()

it.each<[configured: string, provider: Provider, tasks: string[], listed: string[], models: number]>([
  ['nothing', google({ apiKey: 'x' }), [], [], 15],
  [
    'googleEndpoints()',
    google({ apiKey: 'x', endpoints: googleEndpoints() }),
    ['embeddings', 'images'],
    ['embeddings', 'images'],
    24,
  ],
  [
    'googleEndpoints({ audio: true })',
    google({ apiKey: 'x', endpoints: googleEndpoints({ audio: true }) }),
    ['embeddings', 'images', 'speech', 'transcription'],
    ['transcription', 'embeddings', 'images', 'speech'],
    29,
  ],
])('with %s Gemini has exactly these endpoints', async (_, provider, tasks, listed, models) => {
  expect(['embeddings', 'images', 'speech', 'transcription'].filter((task) => task in provider)).toEqual(tasks)
  const all = await provider.models({ signal })
  expect(all).toHaveLength(models)
  const chat = ['chat', 'tools', 'vision', 'json_schema', 'reasoning']
  const others = all.flatMap(({ capabilities }) => capabilities).filter((one) => !chat.includes(one))
  expect([...new Set(others)]).toEqual(listed)
})
