import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import type { Variables } from './load.js'
import { loadConfig } from './load.js'
import { providerVariables, signInVariables, variables } from './variables.js'

const folder = mkdtempSync(join(tmpdir(), 'turnpike-config-'))
afterAll(() => rmSync(folder, { recursive: true }))

const read = (environment: Variables) => loadConfig(environment, folder)

/** What is wrong with these variables, line by line. */
const faultsOf = (environment: Variables): Promise<string[]> =>
  read(environment).then(
    () => [],
    (error: Error) => error.message.split('\n'),
  )

/** The value at a path. */
const at = (config: object, path: string): unknown =>
  path.split('.').reduce<unknown>((value, name) => (value as Record<string, unknown> | undefined)?.[name], config)

const pathOf = (name: string): string => {
  const own = variables[name as keyof typeof variables]
  if (own) return own
  const { type, ...names } = providerVariables.find((family) => Object.values<string>(family).includes(name))!
  return `${type}.${Object.entries(names).find(([, variable]) => variable === name)![0]}`
}

/** The key without which the models of a provider are those of the catalogue. */
const beside = (name: string): Variables =>
  name.endsWith('_MODELS') ? { [name.replace('MODELS', 'API_KEY')]: 'k' } : {}

/** What a variable sets, of providers by their type. */
async function valueOf(name: string, value: string): Promise<unknown> {
  const config = await read({ ...beside(name), [name]: value })
  const providers = Object.fromEntries(
    config.providers.map((provider) => [(provider as { type: string }).type, provider]),
  )
  return at({ ...config, ...providers }, pathOf(name))
}

describe('variables of the environment', () => {
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
    ['SIGN_UP', 'open', 'open'],
    ['SIGN_UP_DOMAINS', 'ai.example, b.example', ['ai.example', 'b.example']],
    ['SMTP_URL', 'smtps://a:b@smtp.example', 'smtps://a:b@smtp.example'],
    ['MAIL_FROM', 'Turnpike <no-reply@ai.example>', 'Turnpike <no-reply@ai.example>'],
    ['OPENAI_MODELS', 'live', 'live'],
    ['OPENAI_MODELS', 'llama3.2:1b, a/b', ['llama3.2:1b', 'a/b']],
    ['ANTHROPIC_MODELS', 'live', 'live'],
    ['GEMINI_MODELS', 'x', ['x']],
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
  ])('%s=%s', async (name, text, value) => expect(await valueOf(name, text)).toEqual(value))

  it.each<[name: string, text: string, fault: string]>([
    ['PORT', 'http', 'a whole number from 0 to 65535, and not "http"'],
    ['PORT', '-1', 'a whole number from 0 to 65535, and not "-1"'],
    ['PORT', '1.5', 'a whole number from 0 to 65535, and not "1.5"'],
    ['PORT', ' 1', 'a whole number from 0 to 65535, and not " 1"'],
    ['PORT', '65536', 'a whole number from 0 to 65535, and not "65536"'],
    ['MAX_IN_FLIGHT', '0', 'a whole number from 1 to 1000000, and not "0"'],
    ['HOLDS', 'yes', 'true or false, and not "yes"'],
    ['EXTRA_FIELDS', 'a,,b', 'names of fields, such as min_p,chat_template_kwargs, and not "a,,b"'],
    ['EXTRA_FIELDS', 'a b', 'names of fields, such as min_p,chat_template_kwargs, and not "a b"'],
    ['EXTRA_FIELDS', '.a', 'names of fields, such as min_p,chat_template_kwargs, and not ".a"'],
    ['EXTRA_FIELDS', 'a.', 'names of fields, such as min_p,chat_template_kwargs, and not "a."'],
    ['ON_CLIENT_ABORT', 'stop', 'one of cancel, drain, and not "stop"'],
    ['WORKERS', '0', 'a whole number from 1 to 256, and not "0"'],
    ['WORKERS', '257', 'a whole number from 1 to 256, and not "257"'],
    ['TRUSTED_HOPS', '101', 'a whole number from 0 to 100, and not "101"'],
    ['LOG', 'verbose', 'one of silent, error, warn, info, debug, and not "verbose"'],
    ['MODEL_GROUPS', 'fast', 'groups of models, such as fast=gpt-4o-mini,gemini-2.5-flash;smart=gpt-5, and not "fast"'],
    [
      'MODEL_GROUPS',
      'fast=',
      'groups of models, such as fast=gpt-4o-mini,gemini-2.5-flash;smart=gpt-5, and not "fast="',
    ],
    ['MODEL_GROUPS', '=a', 'groups of models, such as fast=gpt-4o-mini,gemini-2.5-flash;smart=gpt-5, and not "=a"'],
    [
      'MODEL_GROUPS',
      'fast=a,',
      'groups of models, such as fast=gpt-4o-mini,gemini-2.5-flash;smart=gpt-5, and not "fast=a,"',
    ],
    [
      'MODEL_GROUPS',
      'fast=a;',
      'groups of models, such as fast=gpt-4o-mini,gemini-2.5-flash;smart=gpt-5, and not "fast=a;"',
    ],
    [
      'MODEL_GROUPS',
      'fast=a=b',
      'groups of models, such as fast=gpt-4o-mini,gemini-2.5-flash;smart=gpt-5, and not "fast=a=b"',
    ],
    [
      'MODEL_GROUPS',
      'a = b',
      'groups of models, such as fast=gpt-4o-mini,gemini-2.5-flash;smart=gpt-5, and not "a = b"',
    ],
    ['FETCH_IMAGES', 'yes', 'true or false, and not "yes"'],
    ['OPENAI_THINK_TAGS', 'yes', 'true, false or open, and not "yes"'],
    ['GEMINI_AUDIO', '1', 'true or false, and not "1"'],
    [
      'STORAGE',
      'mysql://x',
      'memory, fs:FOLDER, sqlite:FILE, redis://…, postgres://… or driver:NAME?{json}, and not "mysql://x"',
    ],
    ['STORAGE', 'fs:', 'memory, fs:FOLDER, sqlite:FILE, redis://…, postgres://… or driver:NAME?{json}, and not "fs:"'],
    [
      'STORAGE',
      'driver:',
      'memory, fs:FOLDER, sqlite:FILE, redis://…, postgres://… or driver:NAME?{json}, and not "driver:"',
    ],
    [
      'STORAGE',
      'driver:fs?base',
      'memory, fs:FOLDER, sqlite:FILE, redis://…, postgres://… or driver:NAME?{json}, and not "driver:fs?…"',
    ],
    [
      'FILES',
      'postgres://x',
      'memory, fs:FOLDER, s3://BUCKET?endpoint=…&region=…, redis://… or driver:NAME?{json}, and not "postgres://x"',
    ],
    [
      'FILES',
      'fs:',
      'memory, fs:FOLDER, s3://BUCKET?endpoint=…&region=…, redis://… or driver:NAME?{json}, and not "fs:"',
    ],
    [
      'FILES',
      's3:x',
      'memory, fs:FOLDER, s3://BUCKET?endpoint=…&region=…, redis://… or driver:NAME?{json}, and not "s3:x"',
    ],
    [
      'FILES',
      'sqlite:a.db',
      'memory, fs:FOLDER, s3://BUCKET?endpoint=…&region=…, redis://… or driver:NAME?{json}, and not "sqlite:a.db"',
    ],
    ['FILE_LIMIT_MB', '0', 'a whole number from 1 to 1000000, and not "0"'],
    [
      'FILE_URL_SECRETS',
      'xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx,short',
      'at least 32 characters; several are separated by commas',
    ],
    ['BASE_URL', 'gw.example', 'a URL that begins with http:// or https://, and not "gw.example"'],
    ['OPENAI_BASE_URL', 'ftp://x', 'a URL that begins with http:// or https://, and not "ftp://x"'],
    ['OPENAI_MODELS', 'a,,b', 'live, or ids of models, and not "a,,b"'],
    ['ANTHROPIC_BASE_URL', 'x', 'a URL that begins with http:// or https://, and not "x"'],
    ['GEMINI_BASE_URL', '/v1beta', 'a URL that begins with http:// or https://, and not "/v1beta"'],
    ['BOOTSTRAP_GATEWAY_KEY', 'gw-short', '"gw-" and at least 16 characters without spaces'],
    ['BOOTSTRAP_GATEWAY_KEY', 'xxxxxxxxxxxxxxxxxxxxxxxxxxxxxx', '"gw-" and at least 16 characters without spaces'],
    ['FAILOVER_STATUSES', '400', 'statuses from 500 to 599, such as 500,502,504,520, and not "400"'],
    ['FAILOVER_STATUSES', '500,', 'statuses from 500 to 599, such as 500,502,504,520, and not "500,"'],
    ['FAILOVER_STATUSES', 'all', 'statuses from 500 to 599, such as 500,502,504,520, and not "all"'],
    ['FAILOVER_STATUSES', '500;502', 'statuses from 500 to 599, such as 500,502,504,520, and not "500;502"'],
    ['FAILOVER_STATUSES', '600', 'statuses from 500 to 599, such as 500,502,504,520, and not "600"'],
    ['FIRST_EVENT_MS', '0', 'a whole number from 1 to 86400000, and not "0"'],
    ['EARLY_PING_MS', '-1', 'a whole number from 0 to 86400000, and not "-1"'],
    ['BOOTSTRAP_GATEWAY_RATE_LIMIT', '0', 'a whole number from 1 to 1000000000, and not "0"'],
    ['ADMIN_EMAIL', 'admin', 'an e-mail address, and not "admin"'],
    ['ADMIN_EMAIL', 'a@b', 'an e-mail address, and not "a@b"'],
    ['OPENAI_API_KEY', ' ', 'ASCII characters without spaces'],
    ['OPENAI_API_KEY', 'sk-x\n', 'ASCII characters without spaces'],
    ['OPENAI_API_KEY', 'sk-ü', 'ASCII characters without spaces'],
    ['ANTHROPIC_API_KEY', ' ', 'ASCII characters without spaces'],
    ['ANTHROPIC_API_KEY', 'sk-x\n', 'ASCII characters without spaces'],
    ['ANTHROPIC_API_KEY', 'sk-ü', 'ASCII characters without spaces'],
    ['GEMINI_API_KEY', ' ', 'ASCII characters without spaces'],
    ['GEMINI_API_KEY', 'sk-x\n', 'ASCII characters without spaces'],
    ['GEMINI_API_KEY', 'sk-ü', 'ASCII characters without spaces'],
    ['ADMIN_PASSWORD', '1234567', 'at least 8 characters'],
    ['ADMIN_TOKEN', 'xxxxxxxxxxxxxxx', 'at least 16 characters, without spaces'],
    ['ADMIN_TOKEN', 'a token with spaces in it', 'at least 16 characters, without spaces'],
    ['SESSION_SECRET', 'xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx', 'at least 32 characters; several are separated by commas'],
    ['BALANCE_POLICY', 'on', 'one of off, report, enforce, and not "on"'],
    ['PLAN_PROJECTS', '1.5', 'a whole number, at least 0, and not "1.5"'],
    ['PLAN_AGENTS', '-1', 'a whole number, at least 0, and not "-1"'],
    ['SELF_ROLE', 'admin', 'one of user, developer, and not "admin"'],
    ['PLAN_TASKS', '1.5', 'a whole number, at least 0, and not "1.5"'],
    ['PLAN_STORAGE_GB', '1GB', 'a number of at least 0, and not "1GB"'],
    ['PLAN_DATA_GB', '1GB', 'a number of at least 0, and not "1GB"'],
  ])('%s=%s is refused', async (name, text, fault) =>
    expect(await faultsOf({ ...beside(name), [name]: text })).toEqual([`${name} must be ${fault}`]),
  )

  it('that are empty count as unset, and others are not read', async () => {
    const preset = await read({})
    expect(await read({ PORT: '', STORAGE: '', OPENAI_API_KEY: '', LOG: undefined, PATH: '/bin' })).toEqual(preset)
    expect(preset).toMatchObject({ server: { port: 8787, host: '127.0.0.1' }, store: 'fs:.turnpike' })
    expect(preset.providers).toEqual(
      ['openai', 'anthropic', 'google'].map((type) => ({ type, simulated: true, disabled: false })),
    )
  })

  it('are all named where they are wrong, without secrets', async () => {
    const lines = await faultsOf({ PORT: 'x', ADMIN_PASSWORD: 'secret', SESSION_SECRET: 'secret', STORAGE: 'memory' })
    expect(lines.map((line) => line.split(' ')[0])).toEqual(['PORT', 'ADMIN_PASSWORD', 'SESSION_SECRET'])
    expect(lines.join()).not.toContain('secret')
  })

  it('are described in docs/server.md, one by one', () => {
    const page = readFileSync(new URL('../../../../docs/server.md', import.meta.url), 'utf8')
    const rows = [...page.matchAll(/^\| (`[A-Z\d_]+`(?:, `[A-Z\d_]+`)*) \|/gm)]
    const described = rows.flatMap(([, names]) => [...names!.matchAll(/[A-Z\d_]+/g)].map(([name]) => name))
    const ofProviders = providerVariables.flatMap((names) =>
      Object.entries(names).flatMap(([setting, name]) => (setting === 'type' ? [] : name)),
    )
    const ofSignIn = signInVariables.flatMap((names) => Object.values(names).filter((name) => /^[A-Z]/.test(name)))
    expect(described.toSorted()).toEqual([...Object.keys(variables), ...ofProviders, ...ofSignIn, 'CONFIG'].toSorted())
  })
})
