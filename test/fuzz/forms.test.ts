import * as fc from 'fast-check'
import { expect, it } from 'vitest'
import { contents, read, refusalOf } from '../support/form-reader.js'
import { BOUNDARY, field, filePart, formBytes, inChunks } from '../support/forms.js'
import { parameters } from './parameters.js'

const snippets = [
  '\r\n',
  '\r',
  '\n',
  '--',
  `--${BOUNDARY}`,
  `\r\n--${BOUNDARY.slice(0, -1)}`,
  '\r\n\r\n',
  '"',
  '%',
  ';',
]

/** Bytes that are full of what stands between parts. */
const content = fc
  .array(
    fc.oneof(
      fc.constantFrom(...snippets).map((text) => Buffer.from(text)),
      fc.uint8Array({ maxLength: 40 }),
    ),
    {
      maxLength: 20,
    },
  )
  .map((all) => Buffer.concat(all))

const name = fc.string({
  unit: fc.constantFrom('a', 'Z', '1', '_', '-', '.', 'ü', '🙂', ' '),
  minLength: 1,
  maxLength: 20,
})
const fields = fc.array(fc.tuple(name, fc.string({ unit: 'grapheme', maxLength: 30 })), { maxLength: 8 })

/** The same values under a name, alone or in an array. */
const grouped = (all: [string, string | File][]): Record<string, unknown> => {
  const groups = new Map<string, unknown[]>()
  for (const [key, value] of all) groups.set(key, [...(groups.get(key) ?? []), value])
  return Object.fromEntries([...groups].map(([key, values]) => [key, values.length > 1 ? values : values[0]]))
}

it('any form of FormData is parsed to its fields', async () => {
  await fc.assert(
    fc.asyncProperty(
      fields,
      fields,
      content,
      name,
      fc.integer({ min: 1, max: 500 }),
      async (before, after, bytes, title, size) => {
        const form = new FormData()
        for (const [key, value] of before) form.append(key, value)
        form.append('file', new File([bytes], title, { type: 'audio/mpeg' }))
        for (const [key, value] of after) form.append(key, value)
        const response = new Response(form)
        const body = new Uint8Array(await response.arrayBuffer())
        const got = await contents(
          await read(inChunks(body, size), { 'content-type': response.headers.get('content-type')! }),
        )
        const wanted = [...form].filter(([key]) => key !== 'file')
        expect(got).toEqual({
          ...grouped(wanted.map(([key, value]) => [key, (value as string).replaceAll(/\r\n?|\n/g, '\r\n')])),
          file: {
            name: /^\.{1,2}$/.test(title) ? '' : title,
            type: 'audio/mpeg',
            size: bytes.length,
            bytes: bytes.toString('latin1'),
          },
        })
      },
    ),
    parameters,
  )
}, 600_000)

it('any damaged form is a 400 or a form, and parsing ends', async () => {
  const whole = formBytes([field('model', 'whisper-1'), filePart('abc\r\n--abc'), field('prompt', 'x')])
  const damage = fc.tuple(fc.nat(whole.length), fc.nat(30), content)
  const outcomes = new Set<string>()
  await fc.assert(
    fc.asyncProperty(
      fc.array(damage, { minLength: 1, maxLength: 3 }),
      fc.integer({ min: 1, max: 400 }),
      async (all, size) => {
        let body: Buffer = whole
        for (const [at, gone, bytes] of all)
          body = Buffer.concat([body.subarray(0, at), bytes, body.subarray(at + gone)])
        const outcome = await Promise.race([
          refusalOf(read(inChunks(body, size))),
          new Promise((resolve) => setTimeout(() => resolve('hangs'), 20_000)),
        ])
        expect(outcome).toMatch(/^(none|400 invalid_body .+)$/)
        outcomes.add(String(outcome))
      },
    ),
    parameters,
  )
  expect(outcomes).toContain('none')
  expect(outcomes).toContain('400 invalid_body The request body was cut short')
}, 600_000)
