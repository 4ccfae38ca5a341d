import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, vi } from 'vitest'

const root = new URL('../../', import.meta.url)

/** The text of a page, by its path in the repository. */
export const readPage = (path: string): string => readFileSync(new URL(path, root), 'utf8')

/** A section of a page, without its heading. @throws Error where there is none with this heading */
export function sectionOf(page: string, heading: string): string {
  const found = page.split(/^## /m).find((part) => part.startsWith(`${heading}\n`))
  if (found === undefined) throw new Error(`There is no section "${heading}"`)
  return found.slice(heading.length)
}

/** The fenced code blocks of a page in one language. */
export const blocksOf = (page: string, language: string): string[] =>
  [...page.matchAll(new RegExp(`^\`\`\`${language}\\n([^]*?)^\`\`\``, 'gm'))].map((match) => match[1]!)

/** A page of `docs`, and its examples. */
export function openPage(name: string) {
  const text = readPage(`docs/${name}`)
  return { text, blocks: blocksOf(text, 'ts') }
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
    printed.mockRestore()
    rmSync(folder, { recursive: true })
  }
}
