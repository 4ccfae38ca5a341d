import { expect, it } from 'vitest'
import { afterKey, keyNames, keyOf } from './shortcut-keys.js'

const pressed = { key: 'k', ctrlKey: false, metaKey: false, altKey: false, shiftKey: false }

it('names keys by the modifier of the machine', () => {
  expect(keyOf(pressed, false)).toBe('k')
  expect(keyOf({ ...pressed, key: 'K' }, false)).toBe('k')
  expect(keyOf({ ...pressed, key: 'K', shiftKey: true }, false)).toBe('K')
  expect(keyOf({ ...pressed, key: '?', shiftKey: true }, false)).toBe('?')
  expect(keyOf({ ...pressed, ctrlKey: true }, false)).toBe('mod+k')
  expect(keyOf({ ...pressed, ctrlKey: true }, true)).toBeUndefined()
  expect(keyOf({ ...pressed, metaKey: true }, true)).toBe('mod+k')
  expect(keyOf({ ...pressed, altKey: true }, false)).toBeUndefined()
  expect(keyNames('mod+k', true)).toEqual(['⌘', 'K'])
  expect(keyNames('mod+k', false)).toEqual(['Ctrl', 'K'])
  expect(keyNames('g p', false)).toEqual(['G', 'P'])
})

it('follows keys that are pressed one after the other, and takes the shortcut that came last', () => {
  const all = ['g p', 'g f', 'p', 'p']
  expect(afterKey('p', '', all)).toEqual({ index: 3 })
  expect(afterKey('g', '', all)).toEqual({ begun: 'g' })
  expect(afterKey('p', 'g', all)).toEqual({ index: 0 })
  expect(afterKey('g', 'g', all)).toEqual({ begun: 'g' })
  expect(afterKey('x', 'g', all)).toEqual({ begun: '' })
  expect(afterKey('p', 'x', all)).toEqual({ index: 3 })
})
