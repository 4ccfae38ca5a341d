import { execFile } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import * as fc from 'fast-check'
import { expect, it } from 'vitest'
import { families, gatewayTo } from './families.js'
import { parameters } from './parameters.js'
import { needs, testAll } from '../support/needs.js'
import { thorough } from '../support/scope.js'

const BODIES = thorough ? 500 : 100

const pathOf = (relative: string): string => fileURLToPath(new URL(relative, import.meta.url))

/** Of each family, bodies that must not pass: an unknown field, deep within, a value that is none, and a field that is missing. */
const wrong = {
  OpenAI: [
    { model: 'gpt-4o', messages: [{ role: 'user', content: 'Hi' }], made_up: 1 },
    { model: 'gpt-4o', messages: [{ role: 'user', content: [{ type: 'text', text: 'Hi', made_up: 1 }] }] },
    { model: 'gpt-4o', messages: [{ role: 'user', content: 'Hi' }], reasoning_effort: 'extreme' },
    { model: 'gpt-4o', messages: [{ role: 'tool', content: '1' }] },
  ],
  Claude: [
    { model: 'claude', max_tokens: 1, messages: [], made_up: 1 },
    { model: 'claude', max_tokens: 1, messages: [{ role: 'user', content: [{ type: 'text', text: '', made_up: 1 }] }] },
    { model: 'claude', max_tokens: 1, messages: [], tool_choice: { type: 'required' } },
    { model: 'claude', messages: [] },
  ],
  Gemini: [
    { contents: [], made_up: 1 },
    { contents: [{ role: 'user', parts: [{ text: '', made_up: 1 }] }] },
    { contents: [], toolConfig: { functionCallingConfig: { mode: 'REQUIRED' } } },
    { contents: [], generationConfig: { thinkingConfig: { thinkingLevel: 'xhigh' } } },
    { generationConfig: {} },
  ],
}

/** The lines of a TypeScript file: a typed constant for each body, and those that tsc has to complain about. */
async function source(): Promise<string[]> {
  const lines = [`import type { ${Object.keys(families).join(', ')} } from '../../fuzz/vendor-types.js'`]
  for (const [name, family] of Object.entries(families)) {
    const ask = await gatewayTo(family)
    const declare = (given: object): number =>
      lines.push(`export const body${lines.length}: ${name} = ${JSON.stringify(given)}`)
    let made = 0
    for (const request of fc.sample(family.requests, { ...parameters, numRuns: BODIES * 3 })) {
      const [body] = (await ask(request)).sent
      if (!body) continue
      declare(body)
      if (++made === BODIES) break
    }
    expect(made, name).toBe(BODIES)
    for (const body of wrong[name as keyof typeof wrong]) {
      lines.push('// @ts-expect-error')
      declare(body)
    }
  }
  return lines
}

/** What tsc says of a file. */
const check = (project: string): Promise<string> =>
  new Promise((resolve, reject) => {
    execFile(
      process.execPath,
      [pathOf('../../node_modules/typescript/bin/tsc'), '-p', project, '--pretty', 'false'],
      { maxBuffer: 64 * 1024 * 1024 },
      (error, stdout, stderr) => {
        if (error && stdout === '') reject(new Error(stderr, { cause: error }))
        else resolve(stdout)
      },
    )
  })

it('requests match the types of the vendors', { ...needs(testAll), timeout: 120_000 }, async () => {
  // Where the SDKs are found, and nobody looks for sources.
  const folder = mkdtempSync(pathOf('../node_modules/.types-'))
  try {
    const lines = await source()
    writeFileSync(`${folder}/bodies.ts`, lines.join('\n'))
    const config = { extends: pathOf('../../tsconfig.base.json'), files: ['bodies.ts'] }
    writeFileSync(`${folder}/tsconfig.json`, JSON.stringify(config))
    const told = await check(folder)
    const problems = [...told.matchAll(/bodies\.ts\((\d+),\d+\): (.*)/g)].map(
      ([, line, message]) => `${message}\n${lines[Number(line) - 1]}`,
    )
    expect(problems).toEqual([])
    expect(told).toBe('')
  } finally {
    rmSync(folder, { recursive: true })
  }
})
