import { expect, it } from 'vitest'
import { keyBodyOf, keyIn, localTime } from './key-limits.js'
import { changesOf } from './use-save.js'

/** What is sent when a form of the key is saved. */
const changesIn = (fields: FormData) => changesOf(keyBodyOf(key), keyIn(fields))

const form = (...fields: [string, string][]): FormData => {
  const data = new FormData()
  for (const [name, value] of fields) data.append(name, value)
  return data
}

const key = {
  name: 'app ',
  rate_limit: 60,
  models: ['fast', 'a group, of ours'],
  budget: { usd: 5, per: 'day' as const },
  end_users: { required: true as const, budget: { usd: 1 }, rate_limit: 5 },
  expires_at: '2030-01-31T08:15:42.123Z',
}
const asShown: [string, string][] = [
  ['name', ' app '],
  ['rateLimit', '60'],
  ['tokenLimit', ''],
  ['models', 'fast'],
  ['models', 'a group, of ours'],
  ['models', ''],
  ['budget.usd', '5'],
  ['budget.per', 'day'],
  ['endUsers', 'on'],
  ['endUsers.required', 'on'],
  ['endUsers.budget.usd', '1'],
  ['endUsers.budget.per', ''],
  ['endUsers.rate_limit', '5'],
  ['expiresAt', localTime(key.expires_at)],
]
const asChanged = (changes: Record<string, string | undefined>): FormData =>
  form(
    ...asShown.flatMap(([name, value]): [string, string][] => {
      if (!(name in changes)) return [[name, value]]
      const to = changes[name]
      return to === undefined ? [] : [[name, to]]
    }),
  )

it('has no change in a form that says what the key has, also where that has seconds, which it does not show', () =>
  expect(changesIn(form(...asShown))).toEqual({}))

it.each([
  [{ name: 'other' }, { name: 'other' }],
  [
    { rateLimit: '7', tokenLimit: '100' },
    { rateLimit: 7, tokenLimit: 100 },
  ],
  [{ 'budget.per': '' }, { budget: { usd: 5 } }],
  [{ 'budget.usd': '' }, { budget: null }],
  [{ 'budget.usd': '0' }, { budget: { usd: 0, per: 'day' } }],
  [{ models: undefined }, { models: null }],

  [{ endUsers: undefined }, { endUsers: null }],
  [{ 'endUsers.required': undefined, 'endUsers.budget.usd': '', 'endUsers.rate_limit': '' }, { endUsers: {} }],
  [{ expiresAt: '' }, { expiresAt: null }],
  [{ expiresAt: '2031-02-03T04:05' }, { expiresAt: new Date('2031-02-03T04:05').toISOString() }],
])('sends of %j only what changes', (changes, expected) => expect(changesIn(asChanged(changes))).toEqual(expected))

it('adds what is being typed to the models that were chosen', () => {
  const typed = form(...asShown.slice(0, 5), ['models', ' b, fast,c d,'])
  expect(keyIn(typed).models).toEqual(['fast', 'a group, of ours', 'b', 'c d'])
})

it('has null for what is left empty', () =>
  expect(keyIn(form(['name', 'x'], ['rateLimit', '60']))).toEqual({
    name: 'x',
    rateLimit: 60,
    tokenLimit: null,
    models: null,
    budget: null,
    endUsers: null,
    expiresAt: null,
  }))
