/**
 * Makes the pictures of the pages in docs/images: `npm run pictures`. They are of a server in this process with two weeks of work in it (world.mjs), in
 * Chromium, at twice the resolution that they are shown in.
 */
import { mkdirSync, statSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { chromium } from 'playwright-core'
import { runnerImport } from 'vite'
import { PASSWORD, PEOPLE, sharp } from './work.mjs'
import { startWorld } from './world.mjs'

const file = (path) => fileURLToPath(new URL(path, import.meta.url))
const { programs } = (await runnerImport(file('../support/needs.ts'))).module

/** The window, in CSS pixels; how wide the pictures are, in pixels; their most bytes. */
const WINDOW = { width: 1440, height: 900 }
const WIDTH = 1600
const MOST_BYTES = 120_000
const images = file('../../docs/images/')

/** What is shown: a page, and what is done there until it can be taken. */
const pictures = {
  board: async (page, { project }) => {
    await page.goto(`#/projects/${project.id}`)
    await page.getByRole('link', { name: 'Draw the hero picture' }).waitFor()
  },
  approval: async (page, { project, tasks }) => {
    await page.goto(`#/projects/${project.id}?task=${tasks[0].id}`)
    await page.getByRole('dialog').getByRole('button', { name: 'Approve' }).waitFor()
  },
  requests: async (page) => {
    await page.goto('#/admin/requests')
    await page.getByRole('row', { name: 'rate limit exceeded' }).first().waitFor()
  },
  usage: async (page) => {
    await page.goto('#/admin/usage?by=model&hours=168')
    await page.getByRole('img', { name: 'Cost by day' }).waitFor()
  },
  dashboard: async (page) => {
    await page.goto('#/admin')
    await page.getByRole('img', { name: 'Requests by hour' }).waitFor()
  },
  playground: async (page) => {
    await page.goto('#/playground')
    await page.getByRole('button', { name: 'Add model' }).click()
    for (const [i, model] of ['gpt-5-mini', 'claude-sonnet-4-5'].entries()) {
      const field = page.getByRole('combobox', { name: `Model ${i + 1}: model` })
      await field.fill(model)
      await field.press('Enter')
    }
    await page.getByPlaceholder('Ask something').fill('When should a client retry a request?')
    await page.locator('.prompt').getByRole('button', { name: 'Run' }).click()
    await page.getByRole('button', { name: 'Go on from here' }).nth(1).waitFor()
  },
}

mkdirSync(images, { recursive: true })
const world = await startWorld()
world.live()
const browser = await chromium.launch({
  executablePath: programs.chromium.path,
  args: ['--no-sandbox', '--no-proxy-server'],
})
try {
  const context = await browser.newContext({
    baseURL: `${world.url}/console`,
    viewport: WINDOW,
    deviceScaleFactor: 2,
    colorScheme: 'light',
    timezoneId: 'UTC',
    reducedMotion: 'reduce',
  })
  const page = await context.newPage()
  await page.goto('')
  await page.getByLabel('E-mail').fill(PEOPLE.ada.email)
  await page.getByLabel('Password').fill(PASSWORD)
  await page.getByLabel('Password').press('Enter')
  await page.locator('.shell').waitFor()
  for (const [name, show] of Object.entries(pictures)) {
    await show(page, world)
    // Without a ring around what has the focus, nor what a pointer is over.
    await page.evaluate('document.activeElement?.blur()')
    await page.mouse.move(0, 0)
    await page.waitForLoadState('networkidle')
    await page.waitForTimeout(500)
    const path = `${images}${name}.webp`
    await sharp(await page.screenshot())
      .resize({ width: WIDTH })
      .webp({ quality: 80, effort: 6, smartSubsample: true })
      .toFile(path)
    const { size } = statSync(path)
    console.log(`${name}.webp: ${(size / 1_000).toFixed(0)} kB`)
    if (size > MOST_BYTES) throw new Error(`${path} is larger than ${MOST_BYTES} bytes`)
  }
} finally {
  await browser.close()
  await world.stop()
}
