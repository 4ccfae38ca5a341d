import type { Browser, BrowserContext } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { startBrowser } from '../support/browser.js'
import { needs, programs } from '../support/needs.js'
import { sample } from '../support/scope.js'
import { filesSuite, upload } from './files.js'

const HIT = `parent.postMessage('hit', '*'); alert('hit')`
const html = `<!doctype html><script>${HIT}</script><img src=x onerror="${HIT}"><svg onload="${HIT}">`
const svg = `<svg xmlns="http://www.w3.org/2000/svg" onload="${HIT}"><script>${HIT}</script></svg>`
const xml = `<?xml version="1.0"?><html xmlns="http://www.w3.org/1999/xhtml"><script>${HIT}</script></html>`

/** Files that would run a script if a browser took them for what their bytes or their types say. */
const files: [name: string, type: string, bytes: string][] = [
  ['a.html', 'text/html', html],
  ['a.svg', 'image/svg+xml', svg],
  ['a.js', 'text/javascript', HIT],
  ['a.txt', 'text/plain', html],
  ['a.png', 'image/png', html],
  ['a.xhtml', 'application/xhtml+xml', xml],
  ['a.xml', 'text/xml', xml],
  ['a.gif', 'image/gif', `GIF89a=1;${HIT}//${html}`],
  ['a.mp3', 'audio/mpeg', `ID3${html}`],
  ['a.html', 'application/octet-stream', html],
  ['a.hta', 'made/up', html],
  ['"><script>alert(1)</script>.txt', 'text/plain', 'a'],
]

filesSuite('threat 23: stored XSS', (world) => {
  describe('', needs(programs.chromium), () => {
    let browser: Browser
    let context: BrowserContext
    beforeAll(async () => {
      browser = await startBrowser()
      context = await browser.newContext({ acceptDownloads: false })
      await context.route(`${world().url}/page`, (route) =>
        route.fulfill({ contentType: 'text/html', body: '<!doctype html><title>A page of the platform</title>' }),
      )
    })
    afterAll(() => browser.close())

    it('runs no script of a file, opened or built into a page of the platform', async () => {
      const as = await world().signedIn()
      const page = await context.newPage()
      const dialogs: string[] = []
      context.on('dialog', (dialog) => {
        dialogs.push(dialog.message())
        void dialog.dismiss()
      })
      for (const [name, type, bytes] of sample(files, 5)) {
        const { body } = await upload(world(), as, bytes, {
          name: 'a',
          type,
          before: { displayName: name, isPublic: 'true' },
        })
        await page.goto(`${world().url}/page`)
        const hits = await page.evaluate(`(async () => {
          window.hits = []
          window.addEventListener('message', ({ data }) => window.hits.push(data))
          for (const [tag, attribute] of [['script', 'src'], ['iframe', 'src'], ['embed', 'src'], ['object', 'data'], ['img', 'src']]) {
            const element = document.createElement(tag)
            element[attribute] = ${JSON.stringify(body.url)}
            const done = new Promise((resolve) => { element.onload = element.onerror = resolve; setTimeout(resolve, 150) })
            document.body.append(element)
            await done
          }
          return window.hits
        })()`)
        expect(hits, `${name} ${type}`).toEqual([])
        // A download ends the navigation with an error.
        await page.goto(body.url).catch(() => undefined)
      }
      expect(dialogs).toEqual([])
    })
  })
})
