import { expect, it } from 'vitest'
import { largePng } from '../support/large-png.js'
import { consoleSuite } from './console.js'

/** A file as Playwright takes it. */
const text = (name: string) => ({ name, mimeType: 'text/plain', buffer: Buffer.from('Hello') })

consoleSuite(
  'files at the console',
  (given) => {
    const names = async (trashed: 'true' | 'false' = 'false'): Promise<string[]> =>
      (await given().person.client.get('/api/user-files', { query: { trashed } })).map((one) => one.display_name)
    const choose = (...files: ReturnType<typeof text>[]): Promise<void> =>
      given().page.locator('input[type=file]').setInputFiles(files)
    const open = (name: string): Promise<void> => given().page.getByRole('button', { name, exact: true }).click()
    /** Drops files of so many bytes, by name. The page makes them, because it takes long to send it large ones. */
    const drop = async (sizes: Record<string, number>): Promise<void> => {
      const { page } = given()
      const dataTransfer = await page.evaluateHandle(`(() => {
        const data = new DataTransfer()
        for (const [name, size] of Object.entries(${JSON.stringify(sizes)}))
          data.items.add(new File([new Uint8Array(size)], name))
        return data
      })()`)
      const heading = page.getByRole('heading', { name: 'Files' })
      await heading.dispatchEvent('dragover', { dataTransfer })
      await heading.dispatchEvent('drop', { dataTransfer })
    }

    it('says what to do where there are none', async () => {
      await given().open('/files', 'Files')
      await given().page.getByText('No files yet').waitFor()
      await given().page.getByText('0 B of 10 MB used').waitFor()
      await given().inspect('console-files-empty')
    })

    it('uploads several, by the button and by dropping', async () => {
      const { page } = given()
      await choose(text('notes.txt'), { name: 'gate.png', mimeType: 'image/png', buffer: Buffer.from(largePng(64)) })
      await page.getByRole('button', { name: 'notes.txt' }).waitFor()
      await page.getByRole('button', { name: 'gate.png' }).waitFor()
      await page.getByText('2 files are uploaded.').waitFor()
      await expect.poll(() => page.locator('tr:has(.new)').count()).toBe(2)
      await drop({ '<img src=x onerror=alert(1)>.txt': 7 })
      await page.getByRole('button', { name: '<img src=x onerror=alert(1)>.txt' }).waitFor()
      await page.getByText('3 files').waitFor()
      await page.getByText('.txt is uploaded.').waitFor()
      await expect
        .poll(() => page.locator('tr:has(.new)').allTextContents())
        .toEqual([expect.stringContaining('<img src=x')])
      expect((await names()).toSorted()).toEqual(['<img src=x onerror=alert(1)>.txt', 'gate.png', 'notes.txt'])
      await given().inspect('console-files')
    })

    it('shows the progress of uploads, cancels them, and says why one failed', async () => {
      const { page, context } = given()
      const network = await context.newCDPSession(page)
      const slow = (uploadThroughput: number) =>
        network.send('Network.emulateNetworkConditions', {
          offline: false,
          latency: 0,
          downloadThroughput: -1,
          uploadThroughput,
        })
      let stopped = 0
      page.on('requestfailed', (request) => request.method() === 'POST' && stopped++)
      await slow(100_000)
      await drop({ 'a.bin': 3e6, 'b.bin': 3e6, 'c.bin': 3e6, 'd.bin': 3e6 })
      const progress = page.getByRole('progressbar', { name: 'Upload of a.bin' })
      await expect.poll(async () => Number(await progress.getAttribute('value'))).toBeGreaterThan(0)
      await page.getByText('Waiting').waitFor()
      await given().inspect('console-uploads')
      for (const name of ['d', 'c', 'b', 'a']) await page.getByRole('button', { name: `Cancel ${name}.bin` }).click()
      await page.getByRole('region', { name: 'Uploads' }).waitFor({ state: 'detached' })
      // Else the rest of them would be sent at once.
      await expect.poll(() => stopped).toBe(3)
      await slow(-1)

      await drop({ 'too large.bin': 12e6 })
      await page.getByRole('alert').getByText('Request').waitFor()
      await given().inspect('console-upload-failed')
      await page.getByRole('button', { name: 'Dismiss too large.bin' }).click()
      expect(await names()).toHaveLength(3)
    })

    it('previews a picture, names it, makes it public and copies its link', async () => {
      const { page } = given()
      await open('gate.png')
      const dialog = page.getByRole('dialog', { name: 'gate.png' })
      await expect.poll(() => page.evaluate(`document.querySelector('.preview')?.naturalWidth`)).toBe(64)
      // No URL is in the page that lets anybody read the file who sees it.
      expect(await page.locator('.preview').getAttribute('src')).toMatch(/^blob:/)
      await dialog.getByText('for about an hour').waitFor()
      const save = dialog.getByRole('button', { name: 'Save' })
      let sent = 0
      page.on('request', (request) => request.method() === 'PATCH' && sent++)
      expect(await save.getAttribute('aria-disabled')).toBe('true')
      await dialog.getByLabel('Name').press('Enter')
      await dialog.getByLabel('Name').fill('The gate.png')
      await dialog.getByLabel('Public').check()
      await save.click()
      const renamed = page.getByRole('dialog', { name: 'The gate.png' })
      await renamed.getByText('Saved.').waitFor()
      await renamed.getByText('as long as it is public').waitFor()
      await expect.poll(() => renamed.getByRole('button', { name: 'Save' }).getAttribute('aria-disabled')).toBe('true')
      expect(sent).toBe(1)
      await renamed.getByRole('button', { name: 'Copy link' }).click()
      await renamed.getByRole('button', { name: 'Copied' }).waitFor()
      const link = await page.evaluate<string>('navigator.clipboard.readText()')
      expect((await fetch(link)).headers.get('content-type')).toBe('image/png')
      await given().inspect('console-file')
      await page.keyboard.press('Escape')
      await renamed.waitFor({ state: 'detached' })
      await page.getByRole('cell', { name: 'anybody' }).waitFor()
      await expect.poll(() => page.evaluate('document.activeElement.textContent')).toBe('The gate.png')
    })

    it('shows Markdown and the beginning of a text, and downloads others', async () => {
      const { page, person } = given()
      // A reload would open again what is still closing.
      const close = async (): Promise<void> => {
        await page.keyboard.press('Escape')
        await page.getByRole('dialog').waitFor({ state: 'detached' })
      }
      const add = async (name: string, content: string, type: string): Promise<void> =>
        void (await person.client.upload(new Blob([content], { type }), { name }))
      await add('plan.md', '# The plan\n\n<img src=x onerror=alert(1)>', 'text/markdown')
      await add('gates.ts', `${'// toll\n'.repeat(30_000)}last`, 'video/mp2t')
      await add('empty.txt', '', 'text/plain')
      await add('report.pdf', '%PDF-1.7', 'application/pdf')
      await page.reload()
      await open('plan.md')
      await page.locator('.preview-text').getByRole('heading', { name: 'The plan' }).waitFor()
      await given().inspect('console-file-markdown')
      await close()
      await open('gates.ts')
      await page.getByText('This is the beginning').waitFor()
      expect((await page.locator('.preview-text pre').textContent())!.length).toBe(200_000)
      await close()
      await open('empty.txt')
      await page.locator('.preview-text pre').waitFor({ state: 'attached' })
      await close()
      await open('report.pdf')
      const download = page.waitForEvent('download')
      await page.getByRole('link', { name: 'Download' }).click()
      expect((await download).suggestedFilename()).toBe('report.pdf')
      expect(await page.locator('.preview, .preview-text').count()).toBe(0)
      await close()
      for (const { id, display_name } of await person.client.get('/api/user-files'))
        if (/^(?:plan|gates|empty|report)/.test(display_name))
          await person.client.delete('/api/user-files/{id}', { params: { id }, query: { permanent: 'true' } })
      await page.reload()
    })

    it('moves a file to the trash and back, by the keyboard alone', async () => {
      const { page } = given()
      const press = (name: string): Promise<void> => page.getByRole('button', { name, exact: true }).press('Enter')
      await press('notes.txt')
      await page.getByRole('dialog').getByRole('button', { name: 'Move to trash' }).waitFor()
      await press('Move to trash')
      await given().said('notes.txt is in the trash.')
      expect(await names()).not.toContain('notes.txt')
      await press('Trash')
      await press('notes.txt')
      await page.getByRole('dialog').getByText('its links do not work').waitFor()
      await given().inspect('console-trash')
      await press('Restore')
      await given().said('back among the files')
      await page.getByText('The trash is empty').waitFor()
      expect(await names()).toContain('notes.txt')
    })

    it('removes a file for good after a confirmation', async () => {
      const { page, person } = given()
      const [file] = (await person.client.get('/api/user-files')).filter((one) => one.display_name === 'notes.txt')
      await person.client.delete('/api/user-files/{id}', { params: { id: file!.id } })
      await page.reload()
      await open('notes.txt')
      await open('Remove for good')
      const confirm = page.getByRole('dialog', { name: 'Remove for good?' })
      await given().inspect('console-remove-file')
      await confirm.getByRole('button', { name: 'Cancel' }).click()
      expect(await names('true')).toEqual(['notes.txt'])
      await open('Remove for good')
      await confirm.getByRole('button', { name: 'Remove for good' }).click()
      await given().said('removed for good')
      expect(await names('true')).toEqual([])
    })

    it('shows long lists page by page', async () => {
      const { page, person } = given()
      for (let i = 0; i < 60; i++) await person.client.upload(new Blob(['x']), { name: `${i}.txt` })
      await given().open('/files', 'Files')
      await page.reload()
      await page.getByText('The first 50 files').waitFor()
      await page.getByRole('button', { name: 'Show more' }).press('Enter')
      await page.getByText('62 files').waitFor()
      await expect.poll(() => page.evaluate('document.activeElement.textContent')).toBe('62 files')
      expect(await page.getByRole('rowheader').count()).toBe(62)
    })
  },
  { role: 'user', env: { PLAN_STORAGE_GB: '0.01' } },
)
