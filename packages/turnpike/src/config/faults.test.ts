import { describe, expect, it } from 'vitest'
import { configFolder } from '../../../../test/support/config-folder.js'
import { checkProviders } from '../providers.js'

const { pathOf, write, load, faultsOf } = configFolder()

const types =
  'openai, anthropic, google, azure, bedrock, vertex, cerebras, cloudflare, deepseek, fireworks, groq, llamacpp, lmstudio, ' +
  'mistral, moonshot, nvidia, ollama, openrouter, perplexity, together, vllm, xai, zhipu'

describe('a wrong file names each fault with its path, value and what is expected', () => {
  it.each<[what: string, text: string, faults: string[]]>([
    ['an unknown setting', 'server: { prot: 1 }', ['server.prot is no setting; did you mean port?']],
    ['an unknown section', 'sever: { port: 1 }', ['sever is no setting; did you mean server?']],
    [
      'a value of another kind',
      'server: { port: [1] }',
      ['server.port must be a whole number from 0 to 65535, and not [1]'],
    ],
    [
      'a section that is none',
      'server: 5',
      ['server must be a section of settings (port, host, workers, …), and not 5'],
    ],
    [
      'a section that is empty',
      'gateway:\n',
      ['gateway must be a section of settings (maxInFlight, maxConcurrentPerKey, maxLoopDelayMs, …), and not null'],
    ],
    ['no object', '- 1', ['The configuration must be an object of settings']],
    ['an empty list of providers', 'providers: []', ['providers must be a list of at least one provider, and not []']],
    [
      'a provider without a type',
      'providers: [{ apiKey: x }]',
      [`providers[0].type is missing: it must be one of ${types}`],
    ],
    [
      'a provider of an unknown type',
      'providers: [{ type: openai, apiKey: x }, { type: opnai }]',
      [`providers[1].type must be one of ${types}, and not "opnai"`],
    ],
    [
      'a setting in the spelling of others',
      'providers: [{ type: openai, api_key: canary }]',
      ['providers[0].api_key is no setting; did you mean apiKey?'],
    ],
    [
      'a provider that is none',
      'providers: [openai, null]',
      [
        'providers[0] must be settings, such as { type: openai, apiKey: … }, and not "openai"',
        'providers[1] must be settings, such as { type: openai, apiKey: … }, and not null',
      ],
    ],
    [
      'clouds without a place',
      'providers: [{ type: azure, apiKey: x }, { type: bedrock, credentials: { accessKeyId: x } }]',
      [
        'providers[0].baseURL is missing: it must be the endpoint of the resource, such as https://my-resource.openai.azure.com',
        'providers[1].region is missing: it must be a region, such as us-east-1',
        'providers[1].credentials.secretAccessKey is missing: it must be a text',
      ],
    ],
    [
      'an id that means any provider',
      'providers: [{ type: openai, apiKey: x, id: auto }]',
      ['providers[0].id must be letters, digits, dots, dashes and underscores, other than auto, and not "auto"'],
    ],
    [
      'a setting of another type of provider',
      'providers: [{ type: anthropic, apiKey: x, thinkTags: true }]',
      [
        'providers[0].thinkTags is no setting; there are type, id, apiKey, weight, requestsPerMinute, tokensPerMinute, headers, aliases, retries, ' +
          'firstEventMs, betweenEventsMs, wholeAnswerMs, disabled, simulated, baseURL, models',
      ],
    ],
    [
      'an id that cannot be a prefix',
      'providers: [{ type: openai, apiKey: x, id: a/b }]',
      ['providers[0].id must be letters, digits, dots, dashes and underscores, other than auto, and not "a/b"'],
    ],
    [
      'a secret, which is not shown',
      'providers: [{ type: openai, apiKey: a b }]',
      ['providers[0].apiKey must be ASCII characters without spaces'],
    ],
    [
      'secrets within something else, which are not shown',
      'providers: { openai: { apiKey: sk-canary } }',
      ['providers must be a list of providers, and not {"openai":{"apiKey":"…"}}'],
    ],
    [
      'a URL, without its password',
      'store: mysql://me:hunter2@db/x',
      [
        'store must be memory, fs:FOLDER, sqlite:FILE, redis://…, postgres://… or driver:NAME?{json}, and not "mysql://…@db/x"',
      ],
    ],
    [
      'a list of hosts, without the passwords',
      'store: redis+x://:canary@one:1,:ca/na@ry@two/0?password=canary',
      [
        'store must be memory, fs:FOLDER, sqlite:FILE, redis://…, postgres://… or driver:NAME?{json}, and not "redis+x://…@two/0?…"',
      ],
    ],
    [
      'a secret in place of a section',
      'admin: canary\nfiles: [canary]',
      [
        'files must be a section of settings, and not a list',
        'admin must be a section of settings (email, password, token, …)',
      ],
    ],
    ['a variable that is not set', 'store: ${STORE}', ['store needs the variable STORE, which is not set']],
    [
      'an empty group',
      'routing: { groups: { fast: [] } }',
      ['routing.groups.fast must be a list of models, each an id or { model, weight }, and not []'],
    ],
    [
      'a group with options',
      'routing: { groups: { a: { models: [{ model: x, weight: 0 }], contextFalback: y } } }',
      [
        'routing.groups.a.models[0].weight must be a number above 0, and not 0',
        'routing.groups.a.contextFalback is no setting; did you mean contextFallback?',
      ],
    ],
    [
      'a status that is none',
      'routing: { failoverStatuses: [500, 404] }',
      ['routing.failoverStatuses must be statuses from 500 to 599, such as 500,502,504,520, and not [500,404]'],
    ],
    [
      'a model with a price that is none',
      'providers: [{ type: ollama, models: [a, { id: b, price: { input: -1, imput: 2, tiers: [{ input: 1 }] }, contextWindow: many }] }]',
      [
        'providers[0].models[1].price.input must be a number of at least 0, and not -1',
        'providers[0].models[1].price.tiers[0].above is missing: it must be a whole number, at least 1',
        'providers[0].models[1].price.imput is no setting; did you mean input?',
        'providers[0].models[1].contextWindow must be a whole number, at least 1, and not "many"',
      ],
    ],
    [
      'a model without an id, and one that can do what there is not',
      'providers: [{ type: bedrock, region: us-east-1, models: [{ price: {} }, { id: x, capabilities: [chat, fly] }, 5] }]',
      [
        'providers[0].models[0].id is missing: it must be the id of a model',
        'providers[0].models[1].capabilities[1] must be one of chat, embeddings, images, speech, transcription, tools, vision, json_schema, reasoning, and not "fly"',
        'providers[0].models[2] must be the id of a model, and not 5',
      ],
    ],
    [
      'headers, which are not shown',
      'providers: [{ type: ollama, headers: ["X-Key: canary"] }, { type: ollama, headers: { X-Key: [canary], X-Team: "" } }]',
      [
        'providers[0].headers must be values by the names of headers',
        'providers[1].headers.X-Key must be a value',
        'providers[1].headers.X-Team must be a value',
      ],
    ],
    [
      'settings of the calls of a provider',
      'providers: [{ type: ollama, aliases: [a], retries: -1, firstEventMs: 0, betweenEventsMs: 1s, wholeAnswerMs: 1e9 }]',
      [
        'providers[0].aliases must be ids of models by their other names, and not ["a"]',
        'providers[0].retries must be a whole number from 0 to 100, and not -1',
        'providers[0].firstEventMs must be a whole number from 1 to 86400000, and not 0',
        'providers[0].betweenEventsMs must be a whole number from 1 to 86400000, and not "1s"',
        'providers[0].wholeAnswerMs must be a whole number from 1 to 86400000, and not 1000000000',
      ],
    ],
    [
      'an origin with a path',
      'cors: { origins: ["https://app.example/x"] }',
      ['cors.origins must be origins, such as https://app.example, and not ["https://app.example/x"]'],
    ],
    [
      'code in a file of data',
      'platform: { taskPolicy: "./policy.ts" }',
      ['platform.taskPolicy must be a function, and not "./policy.ts"'],
    ],
    [
      'several faults',
      'server: { port: x, log: loud }\nstore: 5\nproviders: [{ type: google, audio: maybe }]',
      [
        'server.port must be a whole number from 0 to 65535, and not "x"',
        'server.log must be one of silent, error, warn, info, debug, and not "loud"',
        'store must be memory, fs:FOLDER, sqlite:FILE, redis://…, postgres://… or driver:NAME?{json}, and not 5',
        'providers[0].audio must be true or false, and not "maybe"',
      ],
    ],
  ])('%s', async (_, text, faults) => {
    write('turnpike.config.yaml', text)
    expect(await faultsOf()).toEqual(faults)
  })

  it.each([
    ['json', '{ "server": { "port": 1, } }', /cannot be read: .*JSON/],
    ['yaml', 'server: { port: 1\nstore: memory', /cannot be read: .*line/],
    ['yaml', 'store: memory\nstore: fs:x', /cannot be read: .*unique/],
    ['js', 'export default { server: ', /cannot be read: /],
    ['js', 'export const config = {}', /cannot be read: It has no default export/],
    ['js', "throw new Error('no network')", /cannot be read: no network/],
  ])('in %s that cannot be read: %s', async (ending, text, fault) => {
    write(`turnpike.config.${ending}`, text)
    expect((await faultsOf()).join()).toMatch(fault)
  })

  it('whose lines are not shown, as they have keys', async () => {
    write('turnpike.config.yaml', 'providers: [{ type: openai, apiKey: sk-canary }\nstore: memory')
    expect((await faultsOf()).join()).not.toContain('canary')
  })
})

it('what shows when the providers are made names the file, too', async () => {
  write('turnpike.config.json', '{ "providers": [{ "type": "openai" }] }')
  await expect(checkProviders(await load())).rejects.toThrow(
    new RegExp(`^${pathOf('turnpike.config.json')} is wrong:\nproviders\\[0\\]`),
  )
  write('turnpike.config.json', '{ "providers": [{ "type": "openai", "simulated": true, "disabled": true }] }')
  await expect(checkProviders(await load())).rejects.toThrow(
    `${pathOf('turnpike.config.json')} is wrong:\nproviders must have one that is not disabled`,
  )
})
