/**
 * Operations by which somebody ends sign-ins and tokens of their own. They count by the sign-in, and wait for no turn: whoever has stolen a credential
 * cannot keep its owner from ending it by requests without end.
 */
const ENDING = new Set([
  'auth.signOut',
  'account.setPassword',
  'signIns.list',
  'signIns.end',
  'tokens.list',
  'tokens.revoke',
])

/** Whether an operation ends what its caller has open. */
export const isEnding = (operationId: string | undefined): boolean => ENDING.has(operationId ?? '')
