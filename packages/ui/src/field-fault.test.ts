import { expect, it } from 'vitest'
import { faultOf } from './field-fault.js'

const names = ['', 'name', 'models', 'budget.usd', 'budget.per']

it.each([
  ['budget.usd must be at least 0, not -1', { name: 'budget.usd', text: 'Must be at least 0, not -1' }],
  ['models.2 must not be empty', { name: 'models', text: 'Must not be empty' }],
  ['models: all are needed', { name: 'models', text: 'All are needed' }],
  ['groq: the option "name" is not set', { name: 'name', text: 'Is not set' }],
  ['groq: something else', undefined],
  ['budget must be an object', undefined],
  ['names must not be blank', undefined],
  ['name', undefined],
  ['A revoked key cannot be changed', undefined],
])('%s', (message, expected) => expect(faultOf(new Error(message), names)).toEqual(expected))

it('is none where there is no error', () => expect(faultOf(undefined, names)).toBeUndefined())
