import type { Schemas } from '@turnpike/client'

export type Token = Schemas['Token']
type Scope = Token['scopes'][number]

/** A part of the platform that a token can be good for. */
interface Part {
  /** What its scopes begin with. */
  key: string
  name: string
  /** What is to be known to choose. */
  hint?: string
  /** What the field of the part offers, besides nothing. */
  options: readonly (readonly [Scope, string])[]
  /** What a first request reads, below the address of the server. */
  path: string
}

const part = (
  key: string,
  name: string,
  path: string,
  [read, write]: readonly [read: string, write?: string] = ['Read', 'Read and change'],
): Part => ({
  key,
  name,
  path,
  options: [[`${key}:read` as Scope, read], ...(write ? [[`${key}:write` as Scope, write] as const] : [])],
})

export const parts: readonly Part[] = [
  part('tasks', 'Tasks and results', 'api/tasks'),
  part('projects', 'Projects and teams', 'api/projects'),
  part('conversations', 'Conversations', 'api/projects/PROJECT_ID/conversation'),
  part('files', 'Files', 'api/user-files'),
  {
    ...part('gateway', 'Models', 'api/gateway/v1/models', ['List', 'List and ask']),
    hint: 'Agents and replies in conversations need “List and ask”.',
  },
  part('sessions', 'Sessions', 'api/sessions'),
  part('account', 'Account and usage', 'api/account', ['Read']),
]

/** The scopes that a form with a field for each part says. */
export const scopesIn = (fields: FormData): Scope[] => parts.flatMap(({ key }) => (fields.get(key) as Scope | '') || [])

/** A command that reads what a token is good for. */
export function curl(token: string, scopes: readonly Scope[]): string {
  const { path } = parts.find(({ options }) => options.some(([scope]) => scopes.includes(scope)))!
  return `curl ${new URL(path, location.href).href} -H "Authorization: Bearer ${token}"`
}
