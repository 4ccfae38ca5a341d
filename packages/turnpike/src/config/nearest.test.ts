import { expect, it } from 'vitest'
import { nearest } from './nearest.js'

const names = ['type', 'id', 'apiKey', 'baseURL', 'models', 'port']

it.each([
  ['api_key', 'apiKey'],
  ['BASE-url', 'baseURL'],
  ['model', 'models'],
  ['prot', 'port'],
  ['api_base', undefined],
  ['x', undefined],
  ['', undefined],
])('of %s is %s', (given, name) => expect(nearest(given, names)).toBe(name))
