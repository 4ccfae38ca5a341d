import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { readEnvironment } from '../../examples/server/src/environment.js'

/** What is wrong with these variables, line by line. */
function complaints(variables: Record<string, string | undefined>): string[] {
  try {
    readEnvironment(variables)
    return []
  } catch (error) {
    return (error as Error).message.split('\n')
  }
}

describe('the environment', () => {
  const presets = {
    PORT: 8787,
    HOST: '127.0.0.1',
    MAX_IN_FLIGHT: 4096,
    BODY_MEMORY_MB: 512,
    MAX_LOOP_DELAY_MS: 0,
    WORKERS: 1,
    TRUSTED_HOPS: 0,
    LOG: 'info',
    OPENAI_THINK_TAGS: false,
    FETCH_IMAGES: false,
    GEMINI_AUDIO: false,
    FIRST_EVENT_MS: 300_000,
    BETWEEN_EVENTS_MS: 120_000,
    WHOLE_ANSWER_MS: 600_000,
    EARLY_PING_MS: 0,
    HOLDS: false,
    PRICES: 'built-in',
    STORAGE: 'fs:.turnpike',
    FILES_DIRECT_URLS: false,
    FILE_LIMIT_MB: 1000,
    SELF_ROLE: 'user',
    DEVELOPER_KEYS: 20,
    DEVELOPER_KEY_RATE_LIMIT: 600,
    USER_RATE_LIMIT: 60,
    API_RATE_LIMIT: 1_200,
    API_ADDRESS_RATE_LIMIT: 6_000,
    BOOTSTRAP_GATEWAY_RATE_LIMIT: 6000,
    BALANCE_POLICY: 'report',
    PASSWORD_COST: 15,
  }

  it('can be empty', () => {
    expect(readEnvironment({})).toEqual(presets)
    expect(readEnvironment({ PORT: '', STORAGE: '', OPENAI_API_KEY: '', LOG: undefined, PATH: '/bin' })).toEqual(
      presets,
    )
  })

  it.each<[name: string, text: string, value: unknown]>([
    ['PORT', '0', 0],
    ['PORT', '65535', 65_535],
    ['HOST', '::1', '::1'],
    ['WORKERS', '256', 256],
    ['MAX_IN_FLIGHT', '1', 1],
    ['MAX_LOOP_DELAY_MS', '50', 50],
    ['HOLDS', 'true', true],
    ['ON_CLIENT_ABORT', 'drain', 'drain'],
    ['BASE_URL', 'https://gw.example/', 'https://gw.example'],
    ['BASE_URL', 'http://localhost:8787', 'http://localhost:8787'],
    ['OPENAI_BASE_URL', 'https://x.example/v1//', 'https://x.example/v1'],
    ['OPENAI_THINK_TAGS', 'true', true],
    ['OPENAI_THINK_TAGS', 'open', 'open'],
    ['ANTHROPIC_BASE_URL', 'https://x.example', 'https://x.example'],
    ['GEMINI_BASE_URL', 'https://x.example/v1beta', 'https://x.example/v1beta'],
    ['OPENAI_API_KEY', 'sk-x', 'sk-x'],
    ['AGENT_MODEL', 'openai/gpt-5', 'openai/gpt-5'],
    ['AGENT_MODEL_ALTERNATIVE', 'claude-sonnet-5', 'claude-sonnet-5'],
    ['MODEL_GROUPS', 'fast=a/b,c', { fast: ['a/b', 'c'] }],
    ['MODEL_GROUPS', 'fast=a;smart=b,c', { fast: ['a'], smart: ['b', 'c'] }],
    ['FAILOVER_STATUSES', '500', [500]],
    ['FAILOVER_STATUSES', '500,502, 504,520', [500, 502, 504, 520]],
    ['FIRST_EVENT_MS', '1', 1],
    ['BETWEEN_EVENTS_MS', '60000', 60_000],
    ['WHOLE_ANSWER_MS', '1200000', 1_200_000],
    ['EARLY_PING_MS', '20000', 20_000],
    ['EXTRA_FIELDS', 'min_p', ['min_p']],
    ['EXTRA_FIELDS', 'min_p, messages.prefix', ['min_p', 'messages.prefix']],
    ['TRUSTED_HOPS', '2', 2],
    ['CORS_ORIGINS', 'https://app.example', ['https://app.example']],
    [
      'CORS_ORIGINS',
      'https://APP.example:443/, http://localhost:5173',
      ['https://app.example', 'http://localhost:5173'],
    ],
    ['END_USER_HEADER', 'X-OpenWebUI-User-Id', 'x-openwebui-user-id'],
    ['LOG', 'silent', 'silent'],
    ['FETCH_IMAGES', 'true', true],
    ['GEMINI_AUDIO', 'true', true],
    ['PRICES', 'models.dev', 'models.dev'],
    ['STORAGE', 'memory', 'memory'],
    ...['fs:/var/lib/turnpike', 'sqlite:a.db', 'rediss://x', 'postgres://x', 'driver:fs', 'driver:fs?{"base":"x"}'].map(
      (value): [string, string, string] => ['STORAGE', value, value],
    ),
    ...['memory', 'fs:/var/files', 's3://bucket?region=eu-central-1', 'redis://x', 'driver:fs?{"base":"x"}'].map(
      (value): [string, string, string] => ['FILES', value, value],
    ),
    ['FILES_PUBLIC_URL', 'https://cdn.example/', 'https://cdn.example'],
    ['FILES_DIRECT_URLS', 'true', true],
    ['FILE_LIMIT_MB', '5', 5],
    ['FILE_URL_SECRETS', `${'x'.repeat(32)}, ${'y'.repeat(32)}`, ['x'.repeat(32), 'y'.repeat(32)]],
    ['AWS_ACCESS_KEY_ID', 'id', 'id'],
    ['AWS_SECRET_ACCESS_KEY', 'a/b+c=', 'a/b+c='],
    ['AWS_SESSION_TOKEN', 'token', 'token'],
    ['USER_RATE_LIMIT', '1', 1],
    ['API_RATE_LIMIT', '5', 5],
    ['API_ADDRESS_RATE_LIMIT', '5', 5],
    ['PLAN_DATA_GB', '0.5', 0.5],
    ['SELF_ROLE', 'developer', 'developer'],
    ['DEVELOPER_KEYS', '0', 0],
    ['DEVELOPER_KEY_RATE_LIMIT', '1000000', 1_000_000],
    ['PLAN_SESSIONS', '5', 5],
    ['PLAN_TASKS', '0', 0],
    ['BOOTSTRAP_GATEWAY_KEY', `gw-${'x'.repeat(16)}`, `gw-${'x'.repeat(16)}`],
    ['BOOTSTRAP_GATEWAY_RATE_LIMIT', '1', 1],
    ['ADMIN_EMAIL', 'a@b', 'a@b'],
    ['ADMIN_PASSWORD', '12345678', '12345678'],
    ['ADMIN_TOKEN', 'x'.repeat(16), 'x'.repeat(16)],
    ['PASSWORD_COST', '12', 12],
    ['SESSION_SECRET', 'x'.repeat(32), ['x'.repeat(32)]],
    ['SESSION_SECRET', `${'x'.repeat(32)}, ${'y'.repeat(32)}`, ['x'.repeat(32), 'y'.repeat(32)]],
    ['BALANCE_POLICY', 'enforce', 'enforce'],
    ['PLAN_PROJECTS', '0', 0],
    ['PLAN_AGENTS', '10', 10],
    ['PLAN_STORAGE_GB', '0.5', 0.5],
  ])('accepts %s=%s', (name, text, value) => {
    expect(readEnvironment({ [name]: text })).toEqual({ ...presets, [name]: value })
  })

  it.each<[name: string, text: string, complaint: string]>([
    ['PORT', 'http', 'PORT must be a whole number'],
    ['PORT', '-1', 'PORT must be a whole number'],
    ['PORT', '1.5', 'PORT must be a whole number'],
    ['PORT', ' 1', 'PORT must be a whole number'],
    ['PORT', '65536', 'PORT must be at most 65535'],
    ['MAX_IN_FLIGHT', '0', 'MAX_IN_FLIGHT must be at least 1'],
    ['HOLDS', 'yes', 'HOLDS must be true or false'],
    ...['a,,b', 'a b', '.a', 'a.'].map((text): [string, string, string] => [
      'EXTRA_FIELDS',
      text,
      'EXTRA_FIELDS must be names of fields, separated by commas, such as min_p,chat_template_kwargs',
    ]),
    ['ON_CLIENT_ABORT', 'stop', 'ON_CLIENT_ABORT must be cancel or drain'],
    ['WORKERS', '0', 'WORKERS must be at least 1'],
    ['WORKERS', '257', 'WORKERS must be at most 256'],
    ['TRUSTED_HOPS', '101', 'TRUSTED_HOPS must be at most 100'],
    ...[
      '*',
      'app.example',
      'https://app.example/x',
      'https://a@app.example',
      'file:///x',
      'https://*.example',
      'null',
      'https://a.example,',
    ].map((wrong): [string, string, string] => [
      'CORS_ORIGINS',
      wrong,
      'CORS_ORIGINS must be origins, separated by commas, such as https://app.example,http://localhost:5173',
    ]),
    ['END_USER_HEADER', 'a b', 'END_USER_HEADER must be the name of a header, such as X-OpenWebUI-User-Id'],
    ['LOG', 'verbose', 'LOG must be one of silent, error, warn, info, debug'],
    ...['fast', 'fast=', '=a', 'fast=a,', 'fast=a;', 'fast=a=b', 'a = b'].map((text): [string, string, string] => [
      'MODEL_GROUPS',
      text,
      'MODEL_GROUPS must be groups of models, such as fast=gpt-4o-mini,gemini-2.5-flash;smart=gpt-5',
    ]),
    ['FETCH_IMAGES', 'yes', 'FETCH_IMAGES must be true or false'],
    ['OPENAI_THINK_TAGS', 'yes', 'OPENAI_THINK_TAGS must be true, false or open'],
    ['GEMINI_AUDIO', '1', 'GEMINI_AUDIO must be true or false'],
    ...['mysql://x', 'fs:', 'driver:', 'driver:fs?base'].map((value): [string, string, string] => [
      'STORAGE',
      value,
      'STORAGE must be memory, fs:FOLDER, sqlite:FILE, redis://…, postgres://… or driver:NAME?{json}',
    ]),
    ...['postgres://x', 'fs:', 's3:x', 'sqlite:a.db'].map((value): [string, string, string] => [
      'FILES',
      value,
      'FILES must be memory, fs:FOLDER, s3://BUCKET?endpoint=…&region=…, redis://… or driver:NAME?{json}',
    ]),
    ['FILE_LIMIT_MB', '0', 'FILE_LIMIT_MB must be at least 1'],
    [
      'FILE_URL_SECRETS',
      `${'x'.repeat(32)},short`,
      'FILE_URL_SECRETS must have at least 32 characters; several are separated by commas',
    ],
    ['BASE_URL', 'gw.example', 'BASE_URL must be a URL that begins with http:// or https://'],
    ['OPENAI_BASE_URL', 'ftp://x', 'OPENAI_BASE_URL must be a URL that begins with http:// or https://'],
    ['ANTHROPIC_BASE_URL', 'x', 'ANTHROPIC_BASE_URL must be a URL that begins with http:// or https://'],
    ['GEMINI_BASE_URL', '/v1beta', 'GEMINI_BASE_URL must be a URL that begins with http:// or https://'],
    [
      'BOOTSTRAP_GATEWAY_KEY',
      'gw-short',
      'BOOTSTRAP_GATEWAY_KEY must be "gw-" and at least 16 characters without spaces',
    ],
    [
      'BOOTSTRAP_GATEWAY_KEY',
      'x'.repeat(30),
      'BOOTSTRAP_GATEWAY_KEY must be "gw-" and at least 16 characters without spaces',
    ],
    ...['400', '500,', 'all', '500;502', '600'].map((text): [string, string, string] => [
      'FAILOVER_STATUSES',
      text,
      'FAILOVER_STATUSES must be statuses from 500 to 599, separated by commas, such as 500,502,504,520',
    ]),
    ['FIRST_EVENT_MS', '0', 'FIRST_EVENT_MS must be at least 1'],
    ['EARLY_PING_MS', '-1', 'EARLY_PING_MS must be a whole number'],
    ['BOOTSTRAP_GATEWAY_RATE_LIMIT', '0', 'BOOTSTRAP_GATEWAY_RATE_LIMIT must be at least 1'],
    ['ADMIN_EMAIL', 'admin', 'ADMIN_EMAIL must be an e-mail address'],
    ['ADMIN_EMAIL', 'a@b\x7f', 'ADMIN_EMAIL must be an e-mail address'],
    ...['OPENAI_API_KEY', 'ANTHROPIC_API_KEY', 'GEMINI_API_KEY'].flatMap((name) =>
      [' ', 'sk-x\n', 'sk-ü'].map((value): [string, string, string] => [
        name,
        value,
        `${name} must be ASCII characters without spaces`,
      ]),
    ),
    ['ADMIN_PASSWORD', '1234567', 'ADMIN_PASSWORD must have at least 8 characters'],
    ['ADMIN_TOKEN', 'x'.repeat(15), 'ADMIN_TOKEN must have at least 16 characters, without spaces'],
    ['ADMIN_TOKEN', 'a token with spaces in it', 'ADMIN_TOKEN must have at least 16 characters, without spaces'],
    [
      'SESSION_SECRET',
      'x'.repeat(31),
      'SESSION_SECRET must have at least 32 characters; several are separated by commas',
    ],
    ['BALANCE_POLICY', 'on', 'BALANCE_POLICY must be off, report or enforce'],
    ['PLAN_PROJECTS', '1.5', 'PLAN_PROJECTS must be a whole number'],
    ['PLAN_AGENTS', '-1', 'PLAN_AGENTS must be a whole number'],
    ['SELF_ROLE', 'admin', 'SELF_ROLE must be user or developer'],
    ['PLAN_TASKS', '1.5', 'PLAN_TASKS must be a whole number'],
    ['PLAN_STORAGE_GB', '1GB', 'PLAN_STORAGE_GB must be a decimal number'],
    ['PLAN_DATA_GB', '1GB', 'PLAN_DATA_GB must be a decimal number'],
  ])('refuses %s=%s', (name, text, complaint) => expect(complaints({ [name]: text })).toEqual([complaint]))

  it('errors name every invalid variable, without values', () => {
    const lines = complaints({ PORT: 'x', ADMIN_PASSWORD: 'secret', SESSION_SECRET: 'secret', STORAGE: 'memory' })
    expect(lines.map((line) => line.split(' ')[0])).toEqual(['PORT', 'ADMIN_PASSWORD', 'SESSION_SECRET'])
    expect(lines.join()).not.toContain('secret')
  })

  it('is described in docs/server.md, variable by variable', () => {
    const read = (path: string) => readFileSync(new URL(`../../${path}`, import.meta.url), 'utf8')
    const defined = [...read('examples/server/src/environment.ts').matchAll(/^  ([A-Z_]+): /gm)]
    const rows = [...read('docs/server.md').matchAll(/^\| (`[A-Z_]+`(?:, `[A-Z_]+`)*) \| (?:`([^`]+)`)?/gm)]
    const described = rows.flatMap(([, names, preset]) =>
      [...names!.matchAll(/[A-Z_]+/g)].map(([name]) => [name, preset] as const),
    )
    expect(described.map(([name]) => name).toSorted()).toEqual(defined.map(([, name]) => name).toSorted())
    const documented = new Map(described)
    for (const [name, preset] of Object.entries(presets))
      expect([name, documented.get(name)]).toEqual([name, String(preset)])
  })
})
