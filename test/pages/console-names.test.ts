import { expect, it } from 'vitest'
import { thorough } from '../support/scope.js'
import { consoleSuite } from './console.js'

const LONG = 'Quarterly'.padEnd(200, 'y')

consoleSuite(
  'long names in the console',
  (given) => {
    it('wrap in tables, so that the other columns stay in sight, and links are large enough to press', async () => {
      const { page, person, open, look, inspect } = given()
      const { client } = person
      await client.post('/api/projects', { body: { name: LONG } })
      await client.post('/api/keys', { body: { name: LONG } })
      await client.upload(new File(['.'], `${LONG}.txt`))
      for (const [path, heading] of [
        ['/projects', 'Projects'],
        ['/files', 'Files'],
        ['/keys', 'Keys'],
      ] as const) {
        await open(path, heading)
        await page.reload()
        const table = page.getByRole('table')
        await table.getByText(LONG.slice(0, 20)).first().waitFor()
        const { right, widest } = await table.evaluate((element) => {
          const second = element.querySelector('tbody td')!.getBoundingClientRect()
          return { right: second.right, widest: element.scrollWidth - element.parentElement!.clientWidth }
        })
        expect(right, path).toBeLessThan(look.size === 'phone' ? 390 : 1440)
        if (look.size === 'desktop') expect(widest, path).toBe(0)
        const heights = await table
          .locator('a, button')
          .evaluateAll((all) => all.map((one) => one.getBoundingClientRect().height))
        expect(Math.min(24, ...heights), path).toBe(24)
        await inspect(`console-names-${heading.toLowerCase()}`)
      }
    })

    it('does not cut a long title in the head of a drawer, which leaves room for the rest', async () => {
      const { page, person, inspect } = given()
      const { id } = await person.client.post('/api/projects', { body: { name: 'Website' } })
      const title = 'a title without end '.repeat(50).trim()
      const task = await person.client.post('/api/tasks', { body: { projectId: id, title } })
      await given().open(`/projects/${id}?task=${task.id}`, 'Website')
      const head = page.getByRole('dialog').getByRole('heading', { name: title })
      await head.waitFor()
      expect((await head.boundingBox())!.height).toBeLessThan(100)
      await head.hover()
      await page.mouse.wheel(0, 5_000)
      await expect.poll(() => head.evaluate((element) => element.scrollTop)).toBeGreaterThan(0)
      await inspect('console-names-drawer')
    })
  },
  { skip: !thorough },
)
