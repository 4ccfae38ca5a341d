import type { ListedModel, Model, Provider } from '@turnpike/core'
import { describe, expect, it } from 'vitest'
import { createRouter } from './router.js'

const model = (provider: string, id: string, capabilities: Model['capabilities'] = []): Model => ({
  id,
  object: 'model',
  created: 1,
  owned_by: 'x',
  provider,
  capabilities,
})

/** @param listed its list; undefined = it cannot be had; `family` = what it owns by the vendor's own address */
function provider(id: string, listed: string[] | undefined, family?: RegExp, listsAll = true): Provider {
  const refuse = () => Promise.reject(new Error('not called'))
  return {
    id,
    listsAll,
    models: async () => {
      if (!listed) throw new Error('down')
      return listed.map((one) => model(id, one))
    },
    ...(family && { owns: (one: string) => family.test(one) }),
    chat: { oneChoice: false, preview: () => [], complete: refuse, stream: refuse },
    embeddings: refuse,
  }
}

const vendor = (id: string, listed: string[], family: RegExp) => provider(id, listed, family, false)
const find = async (providers: Provider[], wanted: string, named?: string, groups?: Record<string, string[]>) => {
  const router = createRouter({ providers, ...(groups && { groups }) })
  const { targets } = await router.candidates({
    task: 'chat',
    request: { model: wanted, provider: named },
    expected: () => ({ input: 1 }),
  })
  return targets.map((target) => `${target.provider.id}: ${target.model}`)
}
const unknown = (providers: Provider[], wanted: string) =>
  expect(find(providers, wanted)).rejects.toMatchObject({ status: 400, code: 'model_not_found' })

const gpt = /^gpt-/
const ollama = provider(
  'openai',
  ['library/llama3.2:1b', 'gemma3:latest', 'openai/gpt-oss-20b', 'google/gemma-3-27b'],
  gpt,
)
const google = vendor('google', ['gemini-2.5-pro'], /^(gemini|gemma)-/)
const anthropic = vendor('anthropic', ['claude-sonnet-5'], /^claude-/)

describe('an id that the upstream lists', () => {
  it.each([
    ['library/llama3.2:1b', 'openai: library/llama3.2:1b'],
    ['openai/library/llama3.2:1b', 'openai: library/llama3.2:1b'],
    // Its own name is a part of the id.
    ['openai/gpt-oss-20b', 'openai: openai/gpt-oss-20b'],
    ['openai/openai/gpt-oss-20b', 'openai: openai/gpt-oss-20b'],
    // Ollama takes the tag for granted.
    ['gemma3', 'openai: gemma3'],
    ['gemma3:latest', 'openai: gemma3:latest'],
    ['openai/gemma3', 'openai: gemma3'],
  ])('%s is found without and with a prefix', async (asked, found) => {
    expect(await find([ollama, anthropic], asked)).toEqual([found])
    expect(await find([ollama, anthropic], asked, 'openai')).toEqual([found])
    expect(await find([anthropic, ollama], asked, 'auto')).toEqual([found])
  })

  it('is of all that list it, in order', async () => {
    const other = provider('other', ['gemma3:latest', 'library/llama3.2:1b'])
    expect(await find([other, ollama], 'library/llama3.2:1b')).toEqual([
      'other: library/llama3.2:1b',
      'openai: library/llama3.2:1b',
    ])
  })

  it('and begins with the id of another provider is not that one’s, unless it has the model', async () => {
    const vllm = provider('vllm', ['google/flan-t5', 'google/gemini-2.5-pro', 'google/gemini-9'])
    expect(await find([vllm, google], 'google/flan-t5')).toEqual(['vllm: google/flan-t5'])
    expect(await find([vllm, google], 'google/gemini-2.5-pro')).toEqual(['google: gemini-2.5-pro'])
    // A list of an upstream does not draw requests that name another provider.
    expect(await find([vllm, google], 'google/gemini-9')).toEqual(['google: gemini-9'])
    expect(await find([vllm, google], 'vllm/google/gemini-9')).toEqual(['vllm: google/gemini-9'])
    expect(await find([vllm, google], 'google/nobody-has-it')).toEqual(['google: nobody-has-it'])
  })
})

describe('an id that nobody lists', () => {
  it.each(['llama9', 'library/llama9:1b', 'claude-9', 'gpt-9'])('%s goes to the only provider', async (asked) => {
    expect(await find([ollama], asked)).toEqual([`openai: ${asked}`])
    expect(await find([provider('openai', undefined)], asked)).toEqual([`openai: ${asked}`])
    expect(await find([vendor('openai', ['gpt-4o'], gpt)], asked)).toEqual([`openai: ${asked}`])
  })

  it('goes to the providers whose lists are not known, where there are several', async () => {
    const [down, other] = [provider('down', undefined), provider('other', undefined)]
    expect(await find([ollama, down, anthropic, other], 'llama9')).toEqual(['down: llama9', 'other: llama9'])
    expect(await find([down, anthropic], 'claude-9')).toEqual(['anthropic: claude-9'])
    await unknown([ollama, anthropic], 'llama9')
  })

  it('and is of a family goes to the vendor before others', async () => {
    expect(await find([ollama, vendor('vendor', [], gpt)], 'gpt-9')).toEqual(['vendor: gpt-9'])
    // Its list may be a part of what it has.
    expect(await find([ollama, anthropic], 'gpt-9')).toEqual(['openai: gpt-9'])
  })

  it('is no member of a group, unless a list is not known', async () => {
    const groups = { fast: ['claude-sonnet-5', 'gemma3'] }
    expect(await find([ollama], 'fast', undefined, groups)).toEqual(['openai: gemma3'])
    expect(await find([provider('openai', undefined)], 'fast', undefined, { fast: ['gemma3'] })).toEqual([
      'openai: gemma3',
    ])
  })
})

describe('what is listed', () => {
  it('is described as it is routed', async () => {
    const vllm = provider('vllm', ['google/gemini-2.5-pro', 'google/flan-t5', 'x:latest'])
    const router = createRouter({ providers: [vllm, google] })
    const found = async (id: string) => {
      const one = await router.model(id)
      return one && `${one.provider}: ${one.id}`
    }
    expect(await found('google/gemini-2.5-pro')).toBe('google: gemini-2.5-pro')
    expect(await found('vllm/google/gemini-2.5-pro')).toBe('vllm: google/gemini-2.5-pro')
    expect(await found('google/flan-t5')).toBe('vllm: google/flan-t5')
    expect(await found('x')).toBe('vllm: x:latest')
    expect(await found('nothing')).toBeUndefined()
    expect((await router.models()).map(({ id }) => id)).toEqual([
      'google/gemini-2.5-pro',
      'google/flan-t5',
      'x:latest',
      'gemini-2.5-pro',
    ])
  })

  it('may be asked for anything where its capabilities are not known, also with `auto`', async () => {
    const router = createRouter({ providers: [ollama, provider('other', ['gemma3:latest'])] })
    const need = {
      task: 'chat' as const,
      request: { model: 'gemma3', provider: 'auto' },
      expected: () => ({ input: 1 }),
    }
    const seen: (Model | undefined)[] = []
    await router.candidates({ ...need, fits: (_, listed) => (seen.push(listed), true) })
    expect(seen).toEqual([undefined, undefined])
    expect((await router.candidates({ ...need, task: 'embeddings' })).targets).toHaveLength(2)
  })

  it('does not narrow what a group can do where its capabilities are not known', async () => {
    const known: Provider = {
      ...vendor('openai', [], gpt),
      models: async () => [model('openai', 'gpt-4o', ['chat', 'tools'])],
    }
    const router = createRouter({ providers: [known, provider('local', ['x'])], groups: { fast: ['x', 'gpt-4o'] } })
    expect(await router.groups()).toMatchObject([{ id: 'fast', provider: 'local', capabilities: ['chat', 'tools'] }])
  })

  it('is not completed by what a public table tells of the vendor', async () => {
    const told: Record<string, ListedModel> = {
      'openai/gpt-9': { context: 1, maxOutput: 1, capabilities: ['chat' as const], created: 1 },
    }
    const table = {
      version: '1',
      origin: { source: 'x', since: '' },
      models: told,
      price: () => undefined,
      originOf: () => undefined,
    }
    const router = createRouter({ providers: [provider('openai', ['x'], gpt)], prices: { table: () => table } })
    expect((await router.models()).map(({ id }) => id)).toEqual(['x'])
    told['openai/x'] = { ...told['openai/gpt-9']!, created: 5 }
    const other = createRouter({ providers: [provider('openai', ['x'], gpt)], prices: { table: () => table } })
    expect(await other.models()).toMatchObject([{ id: 'x', created: 1, capabilities: ['chat'] }])
  })
})

it.each<[options: object, message: string]>([
  [{}, 'createRouter: the option "providers" is not set'],
  [{ providers: [] }, 'createRouter: the option "providers" is an empty list'],
  [{ providers: [undefined] }, 'createRouter: the option "providers" has something that is no provider'],
  [{ providers: [ollama], fallbacks: {} }, 'createRouter: there is no option "fallbacks"; there are '],
])('the options %j are refused', (options, message) => {
  expect(() => createRouter(options as never)).toThrow(message)
})
