/** What a token for programs can be good for: to read a part of the platform, or to read and change it. */
export const SCOPES = [
  'account:read',
  'projects:read',
  'projects:write',
  'tasks:read',
  'tasks:write',
  'conversations:read',
  'conversations:write',
  'files:read',
  'files:write',
  'sessions:read',
  'sessions:write',
  'gateway:read',
  'gateway:write',
] as const
export type Scope = (typeof SCOPES)[number]

/** The parts that operations belong to, by the first word of their ids. The others, such as keys and users, are closed to tokens. */
const parts: Readonly<Record<string, string>> = {
  account: 'account',
  usage: 'account',
  projects: 'projects',
  teams: 'projects',
  tasks: 'tasks',
  results: 'tasks',
  conversations: 'conversations',
  files: 'files',
  sessions: 'sessions',
}

/** The part of an operation; undefined = it is closed to tokens. */
export const partOf = (operationId = ''): string | undefined => parts[operationId.split('.')[0]!]
