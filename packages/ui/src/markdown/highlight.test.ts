import type { ComponentChildren, VNode } from 'preact'
import { isValidElement } from 'preact'
import { expect, it } from 'vitest'
import { highlight } from './highlight.js'

const childrenOf = ({ props }: VNode): ComponentChildren => (props as { children?: ComponentChildren }).children

/** How deep the elements are within each other. */
function depthOf(content: ComponentChildren): number {
  if (Array.isArray(content)) return Math.max(0, ...content.map(depthOf))
  return isValidElement(content) ? 1 + depthOf(childrenOf(content)) : 0
}

function textOf(content: ComponentChildren): string {
  if (Array.isArray(content)) return content.map(textOf).join('')
  return isValidElement(content) ? textOf(childrenOf(content)) : String(content)
}

it.each([
  ['js', '`${'],
  ['ruby', '"#{'],
  ['bash', '"$('],
  ['python', "f'{"],
  ['rust', '/*'],
])(
  'threat 81: code in %s that is nested in itself has few elements within each other, and all of its text',
  (language, open) => {
    const code = open.repeat(4_000 / open.length)
    const content = highlight(code, language)
    expect(depthOf(content)).toBeGreaterThan(40)
    expect(depthOf(content)).toBeLessThan(60)
    expect(textOf(content)).toBe(code)
  },
)

it('colours the parts of code, and knows no language but its own', () => {
  expect(depthOf(highlight('const a = `b ${c}`', 'ts'))).toBe(2)
  expect(highlight('a', 'nothing')).toBeUndefined()
})
