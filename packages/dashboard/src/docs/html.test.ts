import { describe, expect, it } from 'vitest'
import { html, print, prose } from './html.js'

const text = (value: Parameters<typeof html>[1]): string => print(html`${value}`)

describe('html', () => {
  it('escapes values for content and for attributes', () => {
    const value = `<b onclick='x'>"&amp;`
    expect(print(html`<p title="${value}">${value}</p>`)).toBe(
      '<p title="&lt;b onclick=&#39;x&#39;&gt;&quot;&amp;amp;">&lt;b onclick=&#39;x&#39;&gt;&quot;&amp;amp;</p>',
    )
  })

  it('keeps what is HTML already, in lists too', () => {
    expect(text([html`<i>${'<'}</i>`, '>', 1])).toBe('<i>&lt;</i>&gt;1')
  })

  it('writes nothing for what is absent', () => {
    expect(text([undefined, null, false, ''])).toBe('')
  })

  it('takes no object of a document for HTML', () => {
    const parsed = JSON.parse('{"markup":"<b>","Symbol(markup)":"<b>","html":"<b>"}') as string
    expect(text(parsed)).toBe('[object Object]')
    expect(text([JSON.parse('["<b>"]') as string])).toBe('&lt;b&gt;')
  })
})

it('prose shows code between backticks', () => {
  expect(print(prose('From `a<b` to `c`.'))).toBe('From <code>a&lt;b</code> to <code>c</code>.')
})
