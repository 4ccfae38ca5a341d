import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, vi } from 'vitest'

/** A page of `docs`, and its examples. */
export function openPage(name: string) {
  const text = readFileSync(fileURLToPath(new URL(`../../docs/${name}`, import.meta.url)), 'utf8')
  return { text, blocks: [...text.matchAll(/^```ts\n([^]*?)^```/gm)].map((match) => match[1]!) }
}

/** Runs an example, and fails if it prints anything else than its comments say. */
export async function runExample(code: string): Promise<void> {
  // Within the tests, so that it finds their packages.
  const folder = mkdtempSync(fileURLToPath(new URL('../.example-', import.meta.url)))
  const printed = vi.spyOn(console, 'log').mockImplementation(() => undefined)
  try {
    const file = join(folder, 'example.ts')
    writeFileSync(file, code)
    await import(file)
    const expected = [...code.matchAll(/^console\.log\(.*\) \/\/ (.*)$/gm)].map((match) => match[1])
    expect(expected).not.toEqual([])
    expect(printed.mock.calls.map(([value]) => JSON.stringify(value))).toEqual(expected)
  } finally {
    rmSync(folder, { recursive: true })
  }
}
