import { execFile } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { promisify } from 'node:util'
import { bundlePage, startBrowser } from '../support/browser.js'

const run = promisify(execFile)
const credentials = { email: 'admin@localhost', password: 'the password of the tests' }

/** Calls `use` of main.js in a folder, with the address of a platform and who signs in there. @returns what it resolves with, as JSON has it */
export type Place = (folder: string, url: string) => Promise<unknown>

/** Writes a program that calls `use`. @param program what it does with the call, which is an expression */
function write(folder: string, url: string, program: (call: string) => string): URL {
  const path = join(folder, 'run.mjs')
  const call = `use(${JSON.stringify(url)}, ${JSON.stringify(credentials)})`
  writeFileSync(path, `import { use } from './main.js'\n${program(call)}\n`)
  return pathToFileURL(path)
}

/** A process of Node or Bun. */
export const inProcess =
  (command: string): Place =>
  async (folder, url) => {
    write(folder, url, (call) => `console.log(JSON.stringify(await ${call}))`)
    const { stdout } = await run(command, ['run.mjs'], { cwd: folder })
    return JSON.parse(stdout) as unknown
  }

/** A page of the platform's own origin. */
export const inBrowser: Place = async (folder, url) => {
  const script = await bundlePage(write(folder, url, (call) => `globalThis.told = ${call}`))
  const browser = await startBrowser()
  try {
    const page = await browser.newPage()
    await page.route(`${url}/page`, (route) => route.fulfill({ contentType: 'text/html', body: '<!doctype html>' }))
    await page.goto(`${url}/page`)
    // As in a module, its variables are no globals, such as `location`.
    return await page.evaluate(`(() => {\n${script}\nreturn told })()`)
  } finally {
    await browser.close()
  }
}

interface Worker {
  dispatchFetch(url: string): Promise<Response>
  dispose(): Promise<void>
}

/** A worker, in the workerd of the example beside the folder. */
export const inWorkerd: Place = async (folder, url) => {
  const worker = (call: string): string => `export default { fetch: async () => Response.json(await ${call}) }`
  const contents = await bundlePage(write(folder, url, worker))
  const path = createRequire(join(folder, '../workers/package.json')).resolve('miniflare')
  const { Miniflare } = (await import(path)) as { Miniflare: new (options: object) => Worker }
  const modules = [{ type: 'ESModule', path: 'worker.js', contents }]
  const running = new Miniflare({ modules, compatibilityDate: '2026-04-01' })
  try {
    return await (await running.dispatchFetch('http://localhost')).json()
  } finally {
    await running.dispose()
  }
}
