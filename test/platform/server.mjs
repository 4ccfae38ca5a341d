// Usage: node server.mjs STORAGE. The gateway and the platform on one port, with a clock that the test sets. It prints its address, and for
// each line of its input, a JSON array of a method and its arguments, another with the result or with null and the error.
import { createInterface } from 'node:readline'
import { memoryRateLimiter, usageLedger } from '@turnpike/core'
import { conventionRoutes, createGateway, requestEvents, requestHistory } from '@turnpike/gateway'
import { openapi as gatewayOpenapi } from '@turnpike/gateway/openapi'
import { prometheus } from '@turnpike/gateway/prometheus'
import { fetchShell, nodeShell } from '@turnpike/http'
import {
  createPlatform,
  gatewayResponder,
  isPlatformPath,
  passwordAuth,
  scryptHasher,
  verifyPlatform,
} from '@turnpike/platform'
import { openapi } from '@turnpike/platform/openapi'
import { github, oidc } from '@turnpike/platform/single-sign-on'
import { builtInPrices, createRouter, openai } from '@turnpike/providers'
import { openFiles, openStorage, smtpMailer } from 'turnpike'
import { watchedStore } from './watched-store.mjs'

const { OPENAI_BASE_URL, BALANCE_POLICY = 'report', TRUSTED_HOPS = '0', BASE_URL, RATE_LIMITER } = process.env
const { PLAN_PROJECTS, PLAN_AGENTS, PLAN_STORAGE_GB = '1', PLAN_SESSIONS, PLAN_TASKS, CORS_ORIGIN, HOLDS } = process.env
const {
  TRASH_DAYS,
  USER_RATE_LIMIT = '1000000',
  API_RATE_LIMIT = '1000000',
  API_ADDRESS_RATE_LIMIT = '1000000',
  PLAN_DATA_GB,
  BODY_MEMORY,
  SELF_ROLE,
  DEVELOPER_KEYS = '1000',
  DEVELOPER_KEY_RATE_LIMIT = '1000000',
  FILE_SECRETS = 'a secret of files, at least 32 characters',
  FILES_PUBLIC_URL,
  FILES_DIRECT_URLS,
  SMTP_URL,
  MAIL,
  SIGN_UP,
  SIGN_UP_DOMAINS,
  SIGN_IN = '[]',
  PASSWORDS,
  KEEP_FAILED,
} = process.env

let ahead = 0
let stopped
const now = () => (stopped ?? Date.now()) + ahead

const watched = process.argv[2] === 'watched' ? await watchedStore() : undefined
const { kv: store, rateLimiter: shared } = watched ?? (await openStorage(process.argv[2]))
/** Set while commits that write entries of a kind wait for each other. */
let gathering
const kv = {
  ...store,
  async commit(commit) {
    const written = [...(commit.set ?? []).map(({ key }) => key), ...(commit.del ?? [])]
    if (gathering && written.some(([kind]) => kind === gathering.kind)) {
      if (++gathering.waiting === gathering.count) gathering.release()
      await gathering.over
    }
    return store.commit(commit)
  },
}
// A store counts by a clock of its own.
const rateLimiter = RATE_LIMITER === 'memory' || !shared ? memoryRateLimiter({ now }) : shared
const { blobs } = await openFiles({
  store: process.argv[2],
  files: {
    store: process.env.FILES ?? 'memory',
    accessKeyId: process.env.AWS_ACCESS_KEY_ID,
    secretAccessKey: process.env.AWS_SECRET_ACCESS_KEY,
  },
})
const trustedHops = Number(TRUSTED_HOPS)
const cors = { origins: CORS_ORIGIN ? CORS_ORIGIN.split(',') : [] }
const balancePolicy = BALANCE_POLICY
/** Prices that a test has set, by `provider/model`. */
const changed = new Map()
const prices = {
  table() {
    const table = builtInPrices().table()
    return {
      ...table,
      version: `${table.version}-${changed.size}`,
      price: (provider, model) => changed.get(`${provider}/${model}`) ?? table.price(provider, model),
      originOf: (provider, model) => table.originOf(provider, model),
    }
  },
}
/** What its upstream, a fake, is taken to have. */
const listed = await openai({ apiKey: 'any' }).models({ signal: new AbortController().signal })
const router = createRouter({
  prices,
  providers: [openai({ apiKey: 'sk-upstream', baseURL: OPENAI_BASE_URL, models: listed.map(({ id }) => id) })],
  defaults: { agent: 'openai/gpt-4o-mini', agentAlternative: 'openai/gpt-4o' },
})
const keyLimits = { developer: { keys: Number(DEVELOPER_KEYS), rateLimit: Number(DEVELOPER_KEY_RATE_LIMIT) } }
const gateway = createGateway({
  keyLimits,
  router,
  kv,
  ledger: usageLedger(kv, { now }),
  rateLimiter,
  authenticateAdmin: (exchange) => platform.authenticateAdmin(exchange),
  balancePolicy,
  holds: HOLDS === 'true',
  trustedHops,
  cors,
  events: requestEvents(),
  ...(KEEP_FAILED && { onRequest: requestHistory(kv, { now }).onRequest }),
  routes: [conventionRoutes, prometheus(), gatewayOpenapi()],
  now,
})
// A five-hundredth of the work: the tests sign in hundreds of times.
const hasher = scryptHasher({ ln: 8, r: 8, p: 1 })
/** Set while passwords wait to be checked or hashed. */
let held
const identity = passwordAuth({
  kv,
  secret: 'a secret of the tests, at least 32 characters',
  rateLimiter,
  ...(BASE_URL && { baseUrl: BASE_URL }),
  hasher: {
    ...hasher,
    hash: async (password) => (await held?.promise, hasher.hash(password)),
    verify: async (...guess) => (await held?.promise, hasher.verify(...guess)),
  },
  now,
})
/** What the upload check says, by the name of the file. */
const verdicts = new Map([
  ['virus.txt', { refuse: 'The file has a virus' }],
  ['doubtful.txt', 'hold'],
])
/** Messages that were sent without a server of mail. */
const messages = []
const mailer = SMTP_URL
  ? await smtpMailer({ url: SMTP_URL, from: 'Turnpike <no-reply@ai.example>' })
  : { send: async (message) => void messages.push(message) }
/** What was told to `onError`. */
const errors = []
const platform = createPlatform({
  kv,
  identity,
  gateway,
  ...(BASE_URL && { baseUrl: BASE_URL }),
  ...(MAIL !== 'off' && { mail: mailer }),
  signInProviders: JSON.parse(SIGN_IN).map((given) => (given.issuer ? oidc(given) : github(given))),
  passwords: PASSWORDS !== 'off',
  onError: (error, context) => void errors.push([String(error), context]),
  signUp: SIGN_UP || (MAIL === 'off' ? 'invited' : 'open'),
  ...(SIGN_UP_DOMAINS && { signUpDomains: SIGN_UP_DOMAINS.split(',') }),
  ...(!BASE_URL && { linkPage: 'https://ai.example/console' }),
  balancePolicy,
  planLimits: {
    ...(PLAN_PROJECTS && { projects: Number(PLAN_PROJECTS) }),
    ...(PLAN_AGENTS && { agents: Number(PLAN_AGENTS) }),
    ...(PLAN_SESSIONS && { sessions: Number(PLAN_SESSIONS) }),
    ...(PLAN_TASKS && { tasks: Number(PLAN_TASKS) }),
    storageGb: Number(PLAN_STORAGE_GB),
    ...(PLAN_DATA_GB && { dataGb: Number(PLAN_DATA_GB) }),
  },
  ...(SELF_ROLE && { selfRole: SELF_ROLE }),
  keyLimits,
  ...(BODY_MEMORY && { bodyMemory: Number(BODY_MEMORY) }),
  files: {
    blobs,
    secrets: FILE_SECRETS.split(','),
    check: ({ display_name }) => verdicts.get(display_name) ?? 'accept',
    directUrls: FILES_DIRECT_URLS === 'true',
    ...(TRASH_DAYS && { trashDays: Number(TRASH_DAYS) }),
    ...(FILES_PUBLIC_URL && { publicBase: FILES_PUBLIC_URL }),
  },
  rateLimiter,
  userRateLimit: Number(USER_RATE_LIMIT),
  apiRateLimits: { user: Number(API_RATE_LIMIT), address: Number(API_ADDRESS_RATE_LIMIT) },
  responder: gatewayResponder(gateway, { models: () => router.agentModels() }),
  trustedHops,
  cors,
  routes: [openapi()],
  now,
})

const handle = (exchange) => (isPlatformPath(exchange.path) ? platform : gateway).handle(exchange)

async function listen() {
  if ('Bun' in globalThis) {
    const serve = fetchShell(handle, { trustedHops })
    const server = globalThis.Bun.serve({
      fetch: (request, server) => serve(request, { ip: server.requestIP(request)?.address }),
      hostname: '127.0.0.1',
      port: 0,
      idleTimeout: 0,
      maxRequestBodySize: Number.MAX_SAFE_INTEGER,
    })
    return server.port
  }
  const { createServer } = await import('@turnpike/http/node')
  const server = createServer({ handle, refuse: platform.refuse }, { listener: nodeShell(handle, { trustedHops }) })
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve))
  return server.address().port
}

const methods = {
  ...watched?.methods,
  /** Lets commits that write or delete entries of a kind wait until there are so many of them; without a kind, those that wait go on. */
  gather(kind, count) {
    gathering?.release()
    gathering = kind && { kind, count, waiting: 0 }
    if (kind) gathering.over = new Promise((release) => (gathering.release = release))
  },
  gathered: () => gathering.waiting,
  /** Sets the clock ahead of the machine's, in milliseconds. */
  advance: (ms) => void (ahead += ms),
  /** Stops the clock, or with false lets it go on. */
  stopClock: (stop) => void (stopped = stop ? Date.now() : undefined),
  /** Lets nobody's password be checked or hashed, until it is called with false. */
  holdPasswords(hold) {
    held?.release()
    held = undefined
    if (!hold) return
    held = {}
    held.promise = new Promise((release) => (held.release = release))
  },
  /** Records the holds of requests that did not end. */
  sweep: () => gateway.ledger.sweep(0),
  /** Changes the price of a model from the next request on. */
  setPrice: (model, price) => void changed.set(model, price),
  rotate: () => identity.rotateKeys(),
  createUser: (input) => platform.operations.users.create(input),
  setPassword: (...given) => platform.operations.users.setPassword(...given),
  /** The token of a link by which a user sets a password. */
  async passwordLink(id) {
    const { url } = await platform.operations.links.sendPasswordLink(id)
    return (url ?? messages.findLast(({ text }) => text.includes('token=')).text).match(/token=([\w-]+)/)[1]
  },
  invite: async (id, email) =>
    (
      await platform.operations.invitations.create(
        { email, role: 'user', credit_coins: 0, extra_projects: 0 },
        { id, first_name: '', last_name: '' },
      )
    ).id,
  /** The token of the invitation that was sent to an e-mail. */
  invitationToken: (email) => messages.findLast(({ to }) => to === email).text.match(/token=([\w-]+)/)[1],
  /** The token of an invitation that was made while they were taken. */
  async linkOfBefore(email) {
    const { operations } = createPlatform({ kv, identity, now })
    const { url } = await operations.invitations.create(
      { email, role: 'user', credit_coins: 0, extra_projects: 0 },
      { id: 'before', first_name: '', last_name: '' },
    )
    return url.split('token=')[1]
  },
  errors: () => errors.splice(0),
  addBalance: (id, amounts) => platform.operations.balances.add(id, amounts),
  /** Makes a gateway key as the operator can. */
  createKey: (userId) => gateway.keys.create(userId, { name: 'server' }),
  setRole: (id, role) => platform.operations.users.update(id, { role }),
  restore: (id) => platform.operations.users.restore(id),
  /** Writes a value as an earlier version has stored it. */
  set: (key, value) => kv.commit({ set: [{ key, value }] }),
  /** Removes an entry that an earlier version did not have. */
  del: (...key) => kv.commit({ del: [key] }),
  get: async (...key) => (await kv.get(key))?.value ?? null,
  /** What all objects inherit. */
  prototype: () => Object.getOwnPropertyNames(Object.prototype),
  /** Milliseconds that it has worked. */
  worked: () => (process.cpuUsage().user + process.cpuUsage().system) / 1_000,
  /** All values of the store, as JSON. */
  async dump() {
    const { entriesOf } = await import('@turnpike/core')
    const all = []
    for await (const { key, value } of entriesOf(kv)) all.push([key, value])
    return all
  },
  finishRemovals: () => platform.operations.projects.finishRemovals(),
  finishErasures: () => platform.operations.erasures.finish(),
  /** Ends the replies of processes that have ended; with true, of all others. */
  endAbandoned: (isAlone) => platform.operations.conversations.endAbandoned(isAlone),
  /** Ends the replies that are written after so many milliseconds. */
  drain: (ms) => platform.drain(ms),
  purgeFiles: () => platform.operations.files.purge(),
  /** Removes what a crash left behind, where this process alone uses the stores. */
  async verifyFiles(olderThanMs) {
    const count = await platform.operations.files.verify(olderThanMs)
    await blobs.sweep?.(olderThanMs)
    return count
  },
  releaseFile: (userId, id) => platform.operations.files.release(userId, id),
  /** Memory of the process after a collection, in bytes. */
  memory() {
    globalThis.gc?.()
    globalThis.Bun?.gc(true)
    return process.memoryUsage().rss
  },
  /** Makes so many tasks in a project, 100 at a time. */
  async addTasks(userId, projectId, count) {
    const { create } = platform.operations.tasks
    for (let made = 0; made < count; made += 100)
      await Promise.all(Array.from({ length: 100 }, () => create(userId, projectId, { title: 'one of many' })))
  },
  async verify() {
    const { verifyStore } = await import('@turnpike/core')
    const problems = []
    for await (const problem of verifyStore(kv)) problems.push(problem)
    for await (const problem of verifyPlatform(kv, { blobs })) problems.push(problem)
    return problems
  },
}

/** Prints a line of JSON, in which what readline takes for the end of a line is escaped. */
const say = (value) =>
  console.log(JSON.stringify(value).replace(/[\u2028\u2029]/g, (c) => `\\u${c.charCodeAt(0).toString(16)}`))

say(`http://127.0.0.1:${await listen()}`)
createInterface({ input: process.stdin })
  .on('line', async (line) => {
    const [id, method, ...args] = JSON.parse(line)
    try {
      say([id, (await methods[method](...args)) ?? null])
    } catch (error) {
      say([id, null, error.message])
    }
  })
  .on('close', () => process.exit())
