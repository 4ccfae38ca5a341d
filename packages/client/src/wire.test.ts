import { expect, it } from 'vitest'
import { expectLinear } from '../../../test/support/linear.js'
import { nextOf } from './wire.js'

const withLink = (link: string) => ({ headers: new Headers({ link }) }) as Response

it.each([
  ['<?limit=2&after=a%2Cb>; rel="next"', 'a,b'],
  ['<https://ai.example/api/projects?after=x>; rel="next"', 'x'],
  ['</a>; rel="prev", <?after=x>;  rel="next"', 'x'],
  ['<?after=x>; rel="prev"', undefined],
  ['</a>; rel="next"', undefined],
])('the next page by the header %s', (link, after) => expect(nextOf(withLink(link))).toBe(after))

it('threat 15: whatever a server tells as the next page is read in linear time', () => {
  for (const [open, close] of [
    ['<', '?'],
    ['<?', '>'],
    [' ', '<'],
    ['<>;', ' '],
  ] as const)
    expectLinear((n) => {
      const response = withLink(`x${open.repeat(n)}${close.repeat(n)}x`)
      return () => nextOf(response)
    })
})
