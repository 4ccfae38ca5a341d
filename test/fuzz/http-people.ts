/** Who sends the requests: a user, a developer and an administrator, who are replaced when a request has removed them. */
import type { Owner } from '../platform/requests.js'
import { newOwner } from '../platform/requests.js'
import type { World } from '../platform/world.js'
import { chat, PASSWORD, unknownId } from '../platform/world.js'
import type { Plan } from './arbitrary-http.js'
import type { Known } from './arbitrary-json.js'
import type { Credential, Operation, Role } from './http-operations.js'
import { roles } from './http-operations.js'

interface Person {
  owner: Owner
  /** A gateway key without a limit that matters. */
  key: string
  /** The token of a link that sets the password. */
  link: string
  /** The last ids that were seen in the answers of a collection, such as `/api/projects`. */
  ids: Map<string, string[]>
  /** Requests that are left to this person. */
  left: number
}

const models: Record<string, string> = {
  embeddings: 'text-embedding-3-small',
  'images.generations': 'gpt-image-2',
  'audio.speech': 'tts-1',
  'audio.transcriptions': 'whisper-1',
}

/** Values that all people know. */
const common: Record<string, unknown[]> = {
  password: [PASSWORD],
  current: [PASSWORD],
  voice: ['alloy', 'nova'],
  provider: ['openai', 'auto'],
  messages: [chat.messages],
  Accept: ['text/event-stream', 'application/json'],
  'X-Gateway-Explain': ['true'],
  from: ['2026-01-01', '2026-01-01T00:00:00Z'],
  to: ['2100-01-01'],
}

/** How many requests somebody sends. */
const LIFE = 60

/** E-mails that were made up. */
let made = 0

export function peopleOf(world: () => World, operations: Operation[]) {
  const people = new Map<Role, Person>()
  /** The paths whose items have paths of their own. */
  const collections = new Set(operations.flatMap(({ path }) => /^(.+)\/\{/.exec(path)?.[1] ?? []))

  /** The collection that a name such as `projectId` or `X-Task-ID` tells of. */
  const collectionOf = (name: string): string | undefined => {
    if (collections.has(name)) return name
    const noun = /^(?:x-)?([a-z]+?)[-_]?id$/i.exec(name)?.[1]?.toLowerCase()
    return noun && [...collections].find((path) => path.endsWith(`/${noun}s`))
  }

  const valuesOf = ({ owner, ids, link }: Person, name: string, operation: Operation): unknown[] => {
    if (name === 'email') return [owner.email, `fuzz-${++made}@example.org`]
    if (name === 'refresh_token') return [owner.refresh]
    if (name === 'token') return [link]
    if (name === 'model') return [models[operation.documented.operationId] ?? 'gpt-4o-mini']
    return common[name] ?? ids.get(collectionOf(name) ?? '') ?? []
  }

  const learn = (person: Person, { path }: Operation, body: unknown): void => {
    if (!collections.has(path) || typeof body !== 'object' || body === null) return
    const list = 'data' in body ? body.data : 'providers' in body ? body.providers : body
    const seen = ([list].flat() as { id?: unknown; request_id?: unknown }[])
      .map((item) => item.id ?? item.request_id)
      .filter((id) => typeof id === 'string')
    person.ids.set(path, [...new Set([...seen, ...(person.ids.get(path) ?? [])])].slice(0, 20))
  }

  const headersOf = ({ owner, key }: Person, by: Credential): [string, string][] => {
    if (by === 'cookie')
      return [
        ['cookie', owner.cookie!],
        ['sec-fetch-site', 'same-origin'],
      ]
    return [['authorization', `Bearer ${by === 'key' ? key : owner.access}`]]
  }

  async function renewed(role: Role): Promise<Person> {
    const owner = await newOwner(world(), 'developer')
    const { body: fuzzKey } = await world().newKey(owner, { name: 'fuzz', rateLimit: 1_000_000 })
    if (role !== 'developer') await world().call('setRole', owner.id, role)
    const link = await world().call<string>('passwordLink', owner.id)
    const person: Person = { owner, key: fuzzKey.key!, link, ids: new Map(), left: LIFE }
    for (const operation of operations)
      if (operation.method === 'GET' && collections.has(operation.path)) {
        const query = (operation.documented.parameters ?? [])
          .filter((it) => it.in === 'query' && it.required)
          .map(({ name }) => `${name}=${String(valuesOf(person, name, operation)[0])}`)
        const [by] = operation.credentials
        const headers = Object.fromEntries(headersOf(person, by!))
        const { status, body } = await world().ask('GET', `${operation.path}?${query.join('&')}`, { headers })
        if (status === 200) learn(person, operation, body)
      }
    return person
  }

  const personOf = ({ who }: Plan): Person =>
    people.get(who !== null && typeof who === 'object' ? who.role : 'developer')!

  return {
    isKnown: (name: string): boolean =>
      ['email', 'refresh_token', 'token', 'model'].includes(name) ||
      Object.hasOwn(common, name) ||
      collectionOf(name) !== undefined,

    /** Replaces who has gone, and who has sent many requests. */
    async prepare(): Promise<void> {
      for (const role of roles) if ((people.get(role)?.left ?? 0) <= 0) people.set(role, await renewed(role))
    },

    /** What stands for a known value in a request. */
    lookUp(plan: Plan, { name, pick }: Known): unknown {
      const values = valuesOf(personOf(plan), name, plan.operation)
      return values[pick % values.length] ?? unknownId
    },

    credential: (plan: Plan): [string, string][] => {
      const { who } = plan
      if (who === null) return []
      return typeof who === 'string' ? [['authorization', who]] : headersOf(personOf(plan), who.by)
    },

    /** Takes an answer to a request that was sent as the document has it. */
    answered(plan: Plan, status: number, json: unknown): void {
      const person = personOf(plan)
      person.left--
      const { who, operation } = plan
      if (who === null || typeof who === 'string') return
      if (status === 401 && operation.credentials.includes(who.by)) person.left = 0
      if (status === 200) learn(person, operation, json)
    },

    /** Forgets everybody: there is another process. */
    forget: (): void => people.clear(),
  }
}

export type People = ReturnType<typeof peopleOf>
