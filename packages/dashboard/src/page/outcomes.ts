import type { RequestEvent } from './answers.js'

/** How requests end, as the page tells them apart. */
export const results = [
  ['', 'All'],
  ['ok', 'OK'],
  ['refused', 'Refused'],
  ['failed', 'Failed'],
  ['left', 'Left'],
] as const
export type Result = Exclude<(typeof results)[number][0], ''>

/** How a request ended: `refused` = with a status from 400 to 499, `left` by its client before the end, `failed` in another way. The gateway counts by the same. */
export function resultOf({ status, outcome }: Pick<RequestEvent, 'status' | 'outcome'>): Result {
  if (outcome === 'client_abort') return 'left'
  if (status >= 500 || (status < 400 && outcome !== undefined && outcome !== 'complete')) return 'failed'
  return status >= 400 ? 'refused' : 'ok'
}
