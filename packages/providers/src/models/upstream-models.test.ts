import { expect, it } from 'vitest'
import { listedModels } from './upstream-models.js'

const read = (body: object) =>
  listedModels(body, { family: 'openai', provider: 'local', catalogue: { 'gpt-4o': ['chat', 'tools'] } })
const ids = (body: object) => read(body).map(({ id }) => id)

it('reads what Ollama lists', () => {
  const data = [{ id: 'llama3.2:latest', object: 'model', created: 1_764_000_000, owned_by: 'library' }]
  expect(read({ object: 'list', data })).toEqual([
    {
      id: 'llama3.2:latest',
      object: 'model',
      created: 1_764_000_000,
      owned_by: 'library',
      provider: 'local',
      capabilities: [],
    },
  ])
})

it.each<[name: string, body: object, expected: string[]]>([
  ['Ollama without models', { object: 'list', data: null }, []],
  [
    'vLLM',
    { data: [{ id: 'meta-llama/Llama-3.1-8B', max_model_len: 8192, root: '/m', permission: [{}] }] },
    ['meta-llama/Llama-3.1-8B'],
  ],
  ['Together', [{ id: 'Qwen/Qwen3', type: 'chat' }], ['Qwen/Qwen3']],
  [
    'Anthropic',
    { data: [{ id: 'claude-x', type: 'model', created_at: '2026-01-02T00:00:00Z' }], has_more: false },
    ['claude-x'],
  ],
  ['Google', { models: [{ name: 'models/gemini-x', version: '1' }] }, ['gemini-x']],
  ['a file of llama.cpp', { data: [{ id: 'C:\\my models\\a.gguf' }] }, ['C:\\my models\\a.gguf']],
])('reads the list of %s', (_, body, expected) => expect(ids(body)).toEqual(expected))

it('knows the time and the owner where they are told, and the capabilities of ids that the family has', () => {
  const [claude, gpt, dated, odd] = read({
    data: [
      { id: 'a', created_at: '2026-01-02T00:00:00Z' },
      { id: 'gpt-4o' },
      { id: 'gpt-4o-2024-08-06', created: '5', owned_by: 7 },
      { id: 'constructor', created: -1, owned_by: 'a\nb' },
    ],
  })
  expect(claude).toMatchObject({ created: Date.UTC(2026, 0, 2) / 1000, owned_by: 'openai' })
  expect(gpt).toMatchObject({ created: 0, capabilities: ['chat', 'tools'] })
  expect(dated).toMatchObject({ created: 0, owned_by: 'openai', capabilities: ['chat', 'tools'] })
  expect(odd).toMatchObject({ created: 0, owned_by: 'openai', capabilities: [] })
})

it('leaves out what is no id, and repetitions', () => {
  const wrong = [
    null,
    7,
    'x',
    {},
    { id: 7 },
    { id: '' },
    { id: ' a' },
    { id: 'a ' },
    { id: 'a  b' },
    { id: 'a\u00a0b' },
    { id: 'a\u0000' },
    { id: 'a\r\nb' },
    { id: 'a\u202eb' },
  ]
  expect(
    ids({
      data: [...wrong, { id: '\ud800' }, { id: 'x'.repeat(257) }, { id: 'y'.repeat(256) }, { id: 'b' }, { id: 'b' }],
    }),
  ).toEqual(['y'.repeat(256), 'b'])
})

it('reads 2,000 models at most', () => {
  const data = Array.from({ length: 2_001 }, (_, i) => ({ id: `m${i}` }))
  expect(ids({ data })).toHaveLength(2_000)
})

it.each([[{}], [{ data: {} }], [{ data: 'x' }], [{ error: 'no' }]])('refuses %j', (body) => {
  expect(() => read(body)).toThrow('no list of models')
})
