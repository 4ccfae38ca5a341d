import { describe, expect, it } from 'vitest'
import { configFolder } from '../../../../test/support/config-folder.js'
import { shownConfig } from './shown.js'

const { write, load, faultsOf } = configFolder()

const provider = { type: 'openai', simulated: true, disabled: false }

describe('a configuration is read from', () => {
  it.each([
    ['turnpike.config.json', '{ "server": { "port": 1 }, "providers": [{ "type": "openai", "simulated": true }] }'],
    ['turnpike.config.yaml', 'server: { port: 1 }\nproviders:\n  - { type: openai, simulated: true }\n'],
    ['turnpike.config.yml', 'server: { port: "1" }\nproviders: [{ type: openai, simulated: "true" }]\n'],
    ['turnpike.config.js', "export default { server: { port: 1 }, providers: [{ type: 'openai', simulated: true }] }"],
    [
      'turnpike.config.ts',
      `import type { ConfigInput } from 'turnpike'
       export default { server: { port: 1 as number }, providers: [{ type: 'openai', simulated: true }] } satisfies ConfigInput`,
    ],
  ])('%s', async (name, text) => {
    write(name, text)
    expect(await load()).toMatchObject({ server: { port: 1 }, providers: [provider] })
  })

  it('the file that CONFIG names, from the working folder', async () => {
    write('other.yaml', 'server: { port: 2 }')
    write('turnpike.config.json', '{ "server": { "port": 1 } }')
    expect((await load({ CONFIG: 'other.yaml' })).server.port).toBe(2)
    expect(await faultsOf({ CONFIG: 'missing.yaml' })).toEqual(['CONFIG names missing.yaml, and there is no such file'])
  })

  it('one file only', async () => {
    write('turnpike.config.yaml', '')
    write('turnpike.config.json', '{}')
    expect(await faultsOf()).toEqual([
      'There are turnpike.config.json and turnpike.config.yaml; CONFIG can name one of them',
    ])
  })

  it('a file of code anew each time, with what it imports', async () => {
    write('turnpike.config.js', "import { port } from './port.js'\nexport default { server: { port } }")
    for (const port of [1, 2]) {
      write('port.js', `export const port = ${port}`)
      expect((await load()).server.port).toBe(port)
    }
  })
})

describe('groups of a file', () => {
  it('may have weights and options', async () => {
    const groups = {
      fast: ['a', 'b/c'],
      smart: { models: [{ model: 'a', weight: 2 }, 'b'], contextFallback: 'c', retries: 1 },
    }
    write('turnpike.config.json', JSON.stringify({ routing: { groups } }))
    expect((await load()).routing.groups).toEqual(groups)
  })
})

describe('variables', () => {
  it('win over a file', async () => {
    write('turnpike.config.yaml', 'server: { port: 1, host: "::1" }\nstore: memory\n')
    expect(await load({ PORT: '2', AGENT_MODEL: 'x' })).toMatchObject({
      server: { port: 2, host: '::1' },
      store: 'memory',
      routing: { defaults: { agent: 'x' } },
    })
  })

  it('of providers say nothing where a file lists them', async () => {
    write('turnpike.config.yaml', 'providers: [{ type: anthropic, apiKey: "${OPENAI_API_KEY}" }]')
    expect((await load({ OPENAI_API_KEY: 'sk-x', GEMINI_API_KEY: 'g' })).providers).toEqual([
      { type: 'anthropic', apiKey: 'sk-x', disabled: false, simulated: false },
    ])
  })

  it('stand in texts as ${NAME} and ${NAME:-default}', async () => {
    write(
      'turnpike.config.yaml',
      'server: { port: "${OWN_PORT:-8080}", host: "${A}.${B:-example}" }\nadmin: { password: "$${A} and $A" }',
    )
    expect(await load({ A: 'a' })).toMatchObject({
      server: { port: 8080, host: 'a.example' },
      admin: { password: '${A} and $A' },
    })
    expect((await load({ A: 'a', OWN_PORT: '1', B: '' })).server).toMatchObject({ port: 1, host: 'a.example' })
  })

  it('are not read again in what they give', async () => {
    write('turnpike.config.yaml', 'admin: { password: "${A}" }')
    expect((await load({ A: '${B} is a password' })).admin.password).toBe('${B} is a password')
  })
})

describe('threat 4: a configuration that is shown', () => {
  it.each([
    ['redis://:canary@h/0', 'redis://…@h/0'],
    ['redis://:p/canary@h/0', 'redis://…@h/0'],
    ['redis://:p?canary@h/0', 'redis://…'],
    ['redis://h?password=canary', 'redis://h?…'],
    ['postgres://h/db?user=me@x&password=canary', 'postgres://…'],
    ['postgres://me:ca@na@ry@h/db', 'postgres://…@h/db'],
    ['driver:upstash?{"url":"https://x","token":"canary"}', 'driver:upstash?…'],
    ['postgres://h:5432/db', 'postgres://h:5432/db'],
  ])('has no credentials of the store %s', async (store, shown) => {
    write('turnpike.config.json', JSON.stringify({ store, providers: [{ type: 'openai', simulated: true }] }))
    expect(shownConfig(await load())).toMatchObject({ store: shown })
  })

  it('has none of other addresses either, and texts as they are', async () => {
    const baseURL = 'https://h/v1?key=canary#canary'
    const config = {
      providers: [{ type: 'openai', apiKey: 'canary', baseURL, models: ['a:b', 'c@1'] }],
      prices: 'litellm:https://me:canary@h/prices.json?token=canary',
      admin: { email: 'root@example.org', password: 'canary canary' },
    }
    write('turnpike.config.json', JSON.stringify(config))
    expect(shownConfig(await load())).toMatchObject({
      providers: [{ apiKey: '…', baseURL: 'https://h/v1?…', models: ['a:b', 'c@1'] }],
      prices: 'litellm:https://…@h/prices.json?…',
      admin: { email: 'root@example.org', password: '…' },
    })
  })
})
