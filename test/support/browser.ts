import { existsSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { build } from 'esbuild'
import type { Browser } from 'playwright-core'

const executablePath = '/usr/bin/chromium'

/** Whether the tests in a browser have to be skipped. */
export const noBrowser = !existsSync(executablePath)
if (noBrowser) {
  if (process.env['CI'] === 'true') throw new Error(`The tests in a browser need ${executablePath}`)
  console.log(`The tests in a browser are skipped: there is no ${executablePath}`)
}

/** Starts Chromium without a window; `await (await startBrowser()).newPage()`. */
export async function startBrowser(): Promise<Browser> {
  const { chromium } = await import('playwright-core')
  return chromium.launch({ executablePath, args: ['--no-sandbox'] })
}

/** The script of a page in one text, with the packages that it imports. */
export async function bundlePage(entry: URL): Promise<string> {
  const { outputFiles } = await build({
    entryPoints: [fileURLToPath(entry)],
    conditions: ['@turnpike/source'],
    bundle: true,
    format: 'esm',
    write: false,
  })
  return outputFiles[0]!.text
}
