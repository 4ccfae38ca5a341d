/**
 * Operations by which somebody ends sign-ins and tokens of their own, and what they share. They count by the sign-in, and wait for no turn: whoever has
 * stolen a credential, or fills a shared project, cannot keep its owner from ending that by requests, or reads, without end.
 */
const ENDING = new Set([
  'auth.signOut',
  'account.setPassword',
  'signIns.list',
  'signIns.end',
  'tokens.list',
  'tokens.revoke',
  'members.list',
  'members.remove',
])

/** Whether an operation ends what its caller has open. */
export const isEnding = (operationId: string | undefined): boolean => ENDING.has(operationId ?? '')
