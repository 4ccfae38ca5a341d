/** What actions of the audit log are, in words. @module */
import { words } from '@turnpike/ui'

/** Each kind of thing that actions are about, and what they do to it. */
const things: Record<string, string> = {
  user: 'User',
  balance: 'Balance',
  key: 'Key',
  token: 'Token',
  'end-user': 'End user',
  project: 'Project',
  provider: 'Provider',
  group: 'Group',
  price: 'Price',
  'admin-token': 'Administrator token',
  mail: 'Message',
  invitation: 'Invitation',
}
const verbs: Record<string, string> = {
  create: 'made',
  update: 'changed',
  delete: 'deleted',
  restore: 'restored',
  password: 'password set',
  'password-link': 'sent a link for the password',
  role: 'role set',
  budget: 'budget set',
  rotate: 'rotated',
  revoke: 'revoked',
  fail: 'refused',
  accept: 'accepted',
}
const wholes: Record<string, string> = {
  'sign-in': 'Signed in',
  'sign-out': 'Signed out',
  'sign-in.fail': 'Sign-in refused',
  'sign-in.reuse': 'Sign-in ended: an old token was used',
}

/** `user.create` as `User made`. */
export function actionName(action: string): string {
  const [thing = '', verb = ''] = action.split('.')
  return wholes[action] ?? `${things[thing] ?? words(thing)} ${verbs[verb] ?? words(verb)}`.trim()
}

/** The kinds of actions to choose among: what they begin with. */
export const kinds: readonly (readonly [string, string])[] = [
  ['', 'everything'],
  ['sign-in', 'sign-ins'],
  ...Object.entries(things).map(([thing, name]) => [thing, `${name.toLowerCase()}s`] as const),
]

/** Whether an action is of a kind; sign-outs are among the sign-ins. */
export const isOfKind = (action: string, kind: string): boolean =>
  kind === '' || action.split('.')[0] === kind || (kind === 'sign-in' && action === 'sign-out')

/** Whether something was refused. */
export const isRefusal = (action: string): boolean => action.endsWith('.fail') || action.endsWith('.reuse')
