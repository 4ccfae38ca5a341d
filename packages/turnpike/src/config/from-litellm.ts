/** Conversion of LiteLLM's configuration. Source of its settings: LiteLLM's pages "All settings" and "Load balancing", November 2026. @module */
import { entriesOf, identify, settingsOf, weigh } from './litellm-entries.js'
import { groupsOf } from './litellm-groups.js'
import type { Note, Section } from './litellm-section.js'
import { listOf, Litellm } from './litellm-section.js'
import type { ConfigInput } from './schema.js'
import type { Tree } from './tree.js'
import { isTree } from './tree.js'

/** The address of a store: the database, else Redis. */
function storeOf(general: Section, router: Section): string | undefined {
  const database = general.text('database_url')
  const isPostgres = database !== undefined && /^(postgres|postgresql):\/\/|^\$\{/.test(database)
  if (database !== undefined && !isPostgres) general.note('database_url', 'it must be that of PostgreSQL')
  if (isPostgres) general.note('database_url', 'keys, users and spend of LiteLLM stay where they are')
  const names = ['redis_url', 'redis_host', 'redis_port', 'redis_password', 'redis_ssl'].filter((name) =>
    router.has(name),
  )
  const [url, host, port = '6379', password] = ['redis_url', 'redis_host', 'redis_port', 'redis_password'].map((name) =>
    router.text(name),
  )
  const isTls = router.take('redis_ssl') === true
  const [first] = names
  if (isPostgres) {
    if (first) router.note(first, 'the store of everything is the database')
    return database
  }
  const left = url === undefined ? (host === undefined ? first : undefined) : names.find((name) => name !== 'redis_url')
  if (left) router.note(left, url === undefined ? 'redis_host is missing' : 'redis_url says it')
  if (url !== undefined || host === undefined) return url
  const credential =
    password === undefined ? '' : `:${password.startsWith('${') ? password : encodeURIComponent(password)}@`
  return `redis${isTls ? 's' : ''}://${credential}${host}:${port}`
}

/** The first of several settings that is there; the others of them are noted. */
function firstOf<T>(
  sections: readonly Section[],
  names: readonly string[],
  read: (of: Section, name: string) => T | undefined,
) {
  let found: T | undefined
  for (const section of sections)
    for (const name of names) {
      if (!section.has(name)) continue
      if (found === undefined) found = read(section, name)
      else {
        section.take(name)
        section.note(name, 'another setting of this file says the same')
      }
    }
  return found
}

const without = (tree: Tree): Tree =>
  Object.fromEntries(
    Object.entries(tree).filter(
      ([, value]) => value !== undefined && !(isTree(value) && Object.keys(value).length === 0),
    ),
  )

/**
 * Converts the configuration of LiteLLM's proxy.
 * @param value what its `config.yaml` says; it is read as YAML 1.1, as LiteLLM does
 * @returns a configuration that takes secrets from the environment as the file does, and what is not carried over, or not as it was. Without a
 * provider, nothing was converted.
 * @example const { config, notes } = fromLitellm(yaml.parse(readFileSync('litellm.yaml', 'utf8')))
 */
export function fromLitellm(value: unknown): { config: ConfigInput; notes: Note[] } {
  const given = isTree(value) ? value : {}
  const file = new Litellm(given['environment_variables'])
  const top = file.section('', value)
  top.section('environment_variables').all()
  const credentials = new Map(
    listOf(top.take('credential_list')).map((one) => {
      const { credential_name, credential_values } = isTree(one) ? one : {}
      return [String(credential_name), isTree(credential_values) ? credential_values : {}]
    }),
  )
  const entries = entriesOf(file, top.take('model_list'), credentials)
  const providers = [...new Set(entries.map(({ provider }) => provider))]
  for (const { name, order } of entries) weigh(entries.filter((one) => one.name === name && one.order === order))
  identify(file, providers)

  const [router, general, litellm] = ['router_settings', 'general_settings', 'litellm_settings'].map((name) =>
    top.section(name),
  ) as [Section, Section, Section]
  const both = [router, litellm]
  const groups = groupsOf(file, entries, both)
  const failures = firstOf(both, ['allowed_fails'], (of, name) => of.whole(name, 0))
  const restMs = firstOf(both, ['cooldown_time'], (of, name) => of.milliseconds(name))
  const wholeAnswerMs = firstOf(both, ['timeout', 'request_timeout'], (of, name) => of.milliseconds(name))
  const strategy = router.text('routing_strategy')
  if (strategy !== undefined && strategy !== 'simple-shuffle')
    router.note('routing_strategy', 'load is shared by weight; requests with "provider": "auto" go to the cheapest')
  for (const name of ['drop_params', 'set_verbose']) if (litellm.is(name, name === 'drop_params')) litellm.take(name)
  const token = general.text('master_key')
  const isToken = token !== undefined && (/^\S{16,}$/.test(token) || token.startsWith('${'))
  if (token !== undefined)
    general.note(
      'master_key',
      isToken
        ? 'it administers, and calls no models: the first start prints a gateway key'
        : 'admin.token must have at least 16 characters, without spaces',
    )
  const config = without({
    server: without({ port: general.whole('port', 0, 65_535) ?? 4000, host: general.text('host') }),
    store: storeOf(general, router),
    admin: without({ token: isToken ? token : undefined }),
    prices: 'litellm',
    providers: providers.map((provider) => settingsOf(file, provider)),
    routing: without({
      groups,
      retries: firstOf(both, ['num_retries'], (of, name) => of.whole(name, 0, 100)),
      failures: typeof failures === 'number' ? failures + 1 : failures,
      restMs,
    }),
    gateway: without({
      maxInFlight: general.whole('global_max_parallel_requests', 1, 1_000_000),
      wholeAnswerMs,
      firstEventMs: firstOf(both, ['stream_timeout'], (of, name) => of.milliseconds(name)),
    }),
  })
  for (const section of [router, litellm, general, top]) section.end()
  for (const name of file.unnamed())
    file.note(`environment_variables.${name}`, 'set it in the environment of the server')
  return { config: config as ConfigInput, notes: file.notes }
}
