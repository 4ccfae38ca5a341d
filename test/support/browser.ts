import { fileURLToPath } from 'node:url'
import { build } from 'esbuild'
import type { Browser } from 'playwright-core'
import { programs } from './needs.js'

/** Starts Chromium without a window; `await (await startBrowser()).newPage()`. */
export async function startBrowser(): Promise<Browser> {
  const { chromium } = await import('playwright-core')
  // Pages of tests are on this machine, so a proxy that the environment names is not asked.
  return chromium.launch({ executablePath: programs.chromium.path, args: ['--no-sandbox', '--no-proxy-server'] })
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
