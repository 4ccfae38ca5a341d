import { describe, expect, it } from 'vitest'
import { parseCookies, setCookie } from './cookies.js'

describe('parseCookies', () => {
  it.each([
    [undefined, {}],
    ['', {}],
    ['a=1; b=2', { a: '1', b: '2' }],
    ['a=1;b=2', { a: '1', b: '2' }],
    ['a="1"; b=x=y==', { a: '1', b: 'x=y==' }],
    ['nothing; a=1; =; b c=2; ', { a: '1' }],
    [' a =\t1\t', { a: '1' }],
    ['__proto__=x; a=', { ['__proto__']: 'x', a: '' }],
    ['a=%20', { a: '%20' }],
  ])('reads %j', (header, expected) => {
    expect([...parseCookies(header)]).toEqual(
      expect.arrayContaining(Object.entries(expected).map(([name, value]) => [name, value])),
    )
    expect(parseCookies(header).size).toBe(Object.entries(expected).length)
  })

  it.each(['\u00a0', '\ufeff', '\u2003', '\v', '\0'])('threat 161: %j before __Host- is another name', (character) => {
    const header = `${character}__Host-session=planted; __Host-session=own; x=${character}1`
    expect([...parseCookies(header)]).toEqual([
      ['__Host-session', 'own'],
      ['x', `${character}1`],
    ])
  })

  it('takes the first of two with one name, which has the longer path', () => {
    expect(parseCookies('a=1; a=2').get('a')).toBe('1')
  })
})

describe('setCookie', () => {
  it('is safe by default', () => {
    expect(setCookie('__Host-session', 'abc')).toBe('__Host-session=abc; Path=/; Secure; HttpOnly; SameSite=Lax')
  })

  it('takes all attributes', () => {
    expect(
      setCookie('a', '', {
        maxAge: 60.7,
        path: '/x',
        domain: 'a.example',
        secure: false,
        httpOnly: false,
        sameSite: 'Strict',
      }),
    ).toBe('a=; Max-Age=60; Path=/x; Domain=a.example; SameSite=Strict')
  })

  it('deletes with an age of 0', () => {
    expect(setCookie('a', '', { maxAge: 0 })).toContain('; Max-Age=0;')
  })

  it.each([
    ['a b', 'x', {}],
    ['', 'x', {}],
    ['a', 'x;y', {}],
    ['a', 'x\r\ny', {}],
    ['a', 'é', {}],
    ['a', 'x', { path: '/;Domain=evil' }],
    ['a', 'x', { domain: 'a\nb' }],
  ])('refuses %j=%j %j', (name, value, options) => {
    expect(() => setCookie(name, value, options)).toThrow(TypeError)
  })
})
