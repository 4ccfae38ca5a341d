import { expect, it } from 'vitest'
import { messageOf } from './layout.js'

it('writes a message as text and as HTML', () => {
  const url = 'https://ai.example/console#/link?token=abc'
  const { to, subject, text, html } = messageOf('ada@example.org', {
    subject: 'A subject',
    before: ['One.', 'Two.'],
    link: { name: 'Do it', url },
    after: ['Three.'],
  })
  expect([to, subject]).toEqual(['ada@example.org', 'A subject'])
  expect(text).toBe(`One.\n\nTwo.\n\nDo it:\n${url}\n\nThree.\n`)
  const paragraphs = [...html.matchAll(/<p>(.*?)<\/p>/g)].map(([, content]) => content)
  expect(paragraphs).toEqual([
    'One.',
    'Two.',
    expect.stringMatching(/^<a href="https:\/\/ai\.example\/console#\/link\?token=abc" style="[^"]*">Do it<\/a>$/),
    expect.stringContaining(`>${url}</a>`),
    'Three.',
  ])
})

it('has no markup of what it is given in HTML', () => {
  const evil = `<img src=x onerror="alert('1')"> &amp;`
  const { text, html } = messageOf('ada@example.org', {
    subject: evil,
    before: [evil],
    link: { name: evil, url: `https://ai.example/"><script>` },
    after: [evil],
  })
  expect(text).toContain(evil)
  expect(html).not.toMatch(/<(img|script)/)
  expect(html.match(/&lt;img src=x onerror=&quot;alert\(&#39;1&#39;\)&quot;&gt; &amp;amp;/g)).toHaveLength(4)
  expect(html).toContain('href="https://ai.example/&quot;&gt;&lt;script&gt;"')
})
