import type { Client } from '@turnpike/client'
import { expect, it } from 'vitest'
import { consoleSuite } from './console.js'

const newProject = (client: Client, name: string) =>
  client.post('/api/projects', { body: { name, teamType: 'content-creation' } })

consoleSuite('the projects of the console', (given) => {
  it('are made, listed in pages, and opened', async () => {
    const { page, person, open, inspect } = given()
    await open('/projects', 'Projects')
    await page.getByText('No projects yet').waitFor()
    await inspect('console-projects-empty')
    for (let i = 1; i <= 51; i++) await newProject(person.client, `Project ${i}`)
    await page.getByRole('button', { name: 'New project' }).click()
    await page.getByLabel('Name').fill('Website')
    await page.getByLabel('Team').selectOption('research')
    await page.getByLabel('Description').fill('Relaunch in spring')
    await inspect('console-project-new')
    await page.getByRole('button', { name: 'Create project' }).click()
    await page.getByRole('heading', { level: 1, name: 'Website' }).waitFor()
    await page.getByRole('link', { name: 'Team' }).click()
    await page.getByRole('rowheader', { name: 'Analyst' }).waitFor()
    await inspect('console-project-team')

    await open('/projects', 'Projects')
    await page.getByText('The first 50 projects').waitFor()
    await page.getByRole('button', { name: 'Show more' }).click()
    await page.getByText('52 projects').waitFor()
    const { items } = await person.client.list('/api/projects')
    for (const { id } of items.slice(0, 2)) {
      const task = await person.client.post('/api/tasks', { body: { projectId: id, title: `Draft of ${id}` } })
      await person.client.post('/api/tasks', { body: { projectId: id, title: 'Later' } })
      const body = { status: 'waiting_approval', draft_output: 'Hello' } as const
      await person.client.patch('/api/tasks/{id}', { params: { id: task.id }, body })
    }
    await page.reload()
    await page.getByRole('region', { name: '2 drafts wait for you' }).waitFor()
    await page.getByRole('row', { name: /Website Relaunch in spring (Waiting )?1 / }).waitFor()
    await inspect('console-projects')
    await page.getByRole('link', { name: 'Review the oldest' }).click()
    await page.getByRole('dialog', { name: `Draft of ${items[0]!.id}` }).waitFor()
    await open('/projects', 'Projects')
    await page.getByRole('link', { name: 'Website' }).click()
    await page.getByRole('button', { name: 'New task' }).waitFor()
  })

  it('are renamed, and deleted with what goes with them', async () => {
    const { page, person, open, inspect } = given()
    const { id } = await newProject(person.client, 'Web site')
    const teams: string[] = []
    page.on('request', (request) => request.url().endsWith(`${id}/team`) && teams.push(request.url()))
    await person.client.post('/api/tasks', { body: { projectId: id, title: 'Headline' } })
    await person.client.post('/api/projects/{id}/conversation/messages', { params: { id }, body: { text: 'Hello' } })
    await open(`/projects/${id}/settings`, 'Web site')
    await page.waitForLoadState('networkidle')
    expect(teams).toHaveLength(1)
    await page.getByLabel('Name').fill('Shop')
    await page.getByRole('button', { name: 'Save' }).click()
    await page.getByText('Saved.').waitFor()
    await page.getByRole('heading', { level: 1, name: 'Shop' }).waitFor()
    expect(await person.client.get('/api/projects/{id}', { params: { id } })).toMatchObject({
      name: 'Shop',
      team_type: 'content-creation',
    })
    await inspect('console-project-settings')
    await page.getByRole('button', { name: 'Delete project' }).click()
    const dialog = page.getByRole('dialog')
    await dialog.getByText('1 task, with').waitFor()
    await dialog.getByText('1 message of').waitFor()
    await inspect('console-project-delete')
    await dialog.getByRole('button', { name: 'Delete' }).click()
    await page.getByRole('heading', { level: 1, name: 'Projects' }).waitFor()
    await expect(person.client.get('/api/projects/{id}', { params: { id } })).rejects.toMatchObject({ status: 404 })
  })

  it('say why something cannot be read or done', async () => {
    const { page, admin, open, person } = given()
    const { id } = await newProject(admin.client, 'Somebody else’s')
    await open(`/projects/${id}`, 'Project')
    await page.getByText('There is no such project').waitFor()
    const { id: own } = await newProject(person.client, 'Mine')
    await open(`/projects/${own}/settings`, 'Mine')
    await page.getByLabel('Name').fill('x')
    await person.client.delete('/api/projects/{id}', { params: { id: own } })
    await page.getByRole('button', { name: 'Save' }).click()
    await page.getByRole('alert').filter({ hasText: 'Request' }).first().waitFor()
    expect(await page.getByLabel('Name').inputValue()).toBe('x')
  })
})
