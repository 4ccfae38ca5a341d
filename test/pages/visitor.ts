import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { fileURLToPath } from 'node:url'
import type { Browser, BrowserContext, Page } from 'playwright-core'
import { expect } from 'vitest'
import { runtime } from '../support/runtime.js'
import { thorough } from '../support/scope.js'

/** Where the screenshots of all pages are kept. */
const pictures = fileURLToPath(new URL('../../.ci/out/pages/', import.meta.url))

const require = createRequire(import.meta.url)
const axe = readFileSync(require.resolve('axe-core/axe.min.js'), 'utf8')

/** The windows of each size, in CSS pixels; the first is what a test begins with. */
const windows = {
  desktop: [
    { width: 1440, height: 900 },
    { width: 1024, height: 768 },
  ],
  phone: [{ width: 390, height: 844 }],
} as const

/** The largest layout shift that nobody caused, as web vitals score it; 0.1 in all is what they call good. */
const MOST_SHIFT = 0.05

/** A way to look at a page. */
export interface Look {
  theme: 'light' | 'dark'
  size: keyof typeof windows
}

/** The looks that pages are used in: a desktop and, where everything runs, a phone; not on Bun, where pages are the same. */
export const looks: readonly Look[] = [
  { theme: 'light', size: 'desktop' },
  ...(thorough && runtime === 'node' ? [{ theme: 'dark', size: 'phone' } as const] : []),
]

/** A person with a browser, who notes everything that should not happen. */
export interface Visitor {
  page: Page
  context: BrowserContext
  /** Violations of the Content-Security-Policy, requests to other hosts, errors of scripts and dialogs so far. */
  faults: string[]
  /**
   * Checks the page by axe; fails if anything was noted. Where everything runs, it does so in both themes and all windows of the size, and
   * keeps screenshots.
   * @param name of the screenshots
   */
  inspect(name: string): Promise<void>
}

/** Opens a window with nothing stored. @param url the server, which no request may leave */
export async function visit(browser: Browser, url: string, { theme, size }: Look): Promise<Visitor> {
  const context = await browser.newContext({
    viewport: windows[size][0],
    colorScheme: theme,
    isMobile: size === 'phone',
    hasTouch: size === 'phone',
    permissions: ['clipboard-read', 'clipboard-write'],
  })
  const faults: string[] = []
  let isInspecting = false
  await context.addInitScript(`addEventListener('securitypolicyviolation', (event) => {
    console.error('CSP: ' + event.violatedDirective + ' ' + event.blockedURI)
  })
  const box = ({ x, y, width, height }) => [x, y, width, height].map(Math.round).join()
  new PerformanceObserver((list) => {
    for (const { value, hadRecentInput, sources } of list.getEntries()) {
      if (hadRecentInput || value <= ${MOST_SHIFT}) continue
      const moved = sources.map(({ node, previousRect, currentRect }) => [node?.cloneNode().outerHTML, box(previousRect), 'to', box(currentRect)].join(' '))
      console.error('A layout shift of ' + value.toFixed(3) + ' by ' + moved.join(' ') + ' at ' + location.href)
    }
  }).observe({ type: 'layout-shift' })`)
  const { origin } = new URL(url)
  context.on('request', (request) => {
    const to = new URL(request.url())
    if (to.protocol.startsWith('http') && to.origin !== origin) faults.push(`a request to ${to.origin}`)
  })
  context.on('console', (message) => {
    // What the browser says of every answer that is an error; the pages show those themselves.
    if (message.type() !== 'error' || message.text().startsWith('Failed to load resource')) return
    // Screenshots and other windows move things, too.
    if (isInspecting && message.text().startsWith('A layout shift')) return
    faults.push(message.text())
  })
  context.on('weberror', (error) => faults.push(String(error.error())))
  context.on('dialog', (dialog) => {
    faults.push(`a dialog: ${dialog.message()}`)
    void dialog.dismiss()
  })
  const page = await context.newPage()
  const check = async (name: string): Promise<void> => {
    await page.evaluate('Promise.allSettled(document.getAnimations().map(({ finished }) => finished))')
    if (await page.evaluate('typeof axe === "undefined"')) await page.evaluate(axe)
    // Only the violations: what passed is several times as much.
    const violations = await page.evaluate<{ id: string; impact: string; nodes: { html: string }[] }[]>(
      'axe.run(document, { resultTypes: ["violations"] }).then(({ violations }) => violations)',
    )
    const serious = violations
      .filter(({ impact }) => impact === 'serious' || impact === 'critical')
      .map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html.slice(0, 200)).join(' | ')}`)
    if (thorough) await page.screenshot({ path: `${pictures}${name}.png`, fullPage: true })
    expect({ serious, faults }, name).toEqual({ serious: [], faults: [] })
    // Nothing is wider than the window, so that a page scrolls in one direction only.
    expect(await page.evaluate('document.documentElement.scrollWidth <= innerWidth'), `${name} fits`).toBe(true)
  }
  return {
    page,
    context,
    faults,
    async inspect(name) {
      if (!thorough) return check(name)
      isInspecting = true
      for (const window of windows[size]) {
        await page.setViewportSize(window)
        for (const colorScheme of ['light', 'dark'] as const) {
          await page.emulateMedia({ colorScheme })
          await check(`${name}-${colorScheme}-${window.width}`)
        }
      }
      await page.setViewportSize(windows[size][0])
      await page.emulateMedia({ colorScheme: theme })
      await page.evaluate('new Promise((seen) => requestAnimationFrame(() => requestAnimationFrame(seen)))')
      isInspecting = false
    },
  }
}
