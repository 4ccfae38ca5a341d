import type { Budget, BudgetUse, UsageRecord } from '@turnpike/core'
import { toUsd } from '@turnpike/core'
import type { Customer } from './customers.js'

const escape = (text: string): string => text.replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`)

const page = (title: string, body: string): string => `<!doctype html>
<html lang="en">
  <meta charset="utf-8">
  <meta name="viewport" content="width=device-width">
  <title>${title}</title>
  <style>
    body { font: 16px/1.5 system-ui; max-width: 44rem; margin: 2rem auto; padding: 0 1rem }
    form, nav { display: flex; gap: .5rem; margin: 1rem 0 }
    meter { width: 100%; height: 1.5rem }
    table { width: 100%; border-collapse: collapse }
    th, td { text-align: left; padding: .25rem .5rem; border-bottom: 1px solid #ddd }
    td.number { text-align: right; font-variant-numeric: tabular-nums }
  </style>
  <h1>${title}</h1>
  ${body}
</html>`

export const signInForm = (message = ''): string =>
  page(
    'My shop',
    `<p role="alert">${message}</p>
    <form method="post" action="/sign-in">
      <label>E-mail <input name="email" type="email" required autocomplete="username"></label>
      <label>Password <input name="password" type="password" required minlength="8" autocomplete="current-password"></label>
      <button>Sign in</button>
      <button formaction="/sign-up">Sign up</button>
    </form>`,
  )

/** Asks the gateway and keeps tasks with the platform, by the cookie alone: browsers send it with requests of this page. */
export const home = ({ email, plan }: Customer): string =>
  page(
    'My shop',
    `<nav>${escape(email)}, plan ${plan} · <a href="/usage">Usage</a></nav>
    <form id="ask"><input name="text" aria-label="Question" value="Hello!" required><button>Ask</button></form>
    <p id="answer" aria-live="polite"></p>
    <h2>Tasks</h2>
    <form id="add"><input name="title" aria-label="Title" required><button>Add a task</button></form>
    <ul id="tasks"></ul>
    <script type="module">
      const call = async (method, path, body) => {
        const response = await fetch(path, {
          method,
          headers: body && { 'content-type': 'application/json' },
          body: body && JSON.stringify(body),
        })
        const answer = await response.json()
        if (!response.ok) throw new Error(answer.error.message ?? answer.error)
        return answer
      }
      const { ask, add, answer, tasks } = Object.fromEntries([...document.querySelectorAll('[id]')].map((node) => [node.id, node]))

      ask.addEventListener('submit', async (event) => {
        event.preventDefault()
        answer.textContent = '…'
        const messages = [{ role: 'user', content: new FormData(ask).get('text') }]
        answer.textContent = await call('POST', '/ai/v1/chat/completions', { model: 'gpt-4o-mini', messages }).then(
          ({ choices }) => choices[0].message.content,
          (error) => error.message,
        )
      })

      const [project = await call('POST', '/api/projects', { name: 'My project' })] = await call('GET', '/api/projects')
      const show = async () => {
        const list = await call('GET', '/api/tasks?projectId=' + project.id)
        tasks.replaceChildren(
          ...list.map(({ title, status }) => Object.assign(document.createElement('li'), { textContent: title + ' (' + status + ')' })),
        )
      }
      add.addEventListener('submit', async (event) => {
        event.preventDefault()
        await call('POST', '/api/tasks', { projectId: project.id, title: new FormData(add).get('title') })
        add.reset()
        await show()
      })
      await show()
    </script>`,
  )

const dollars = (usd: number): string => `$${usd.toFixed(6)}`

export const usagePage = (
  { email, plan }: Customer,
  { usd, per }: Budget,
  { spent, held }: BudgetUse,
  records: UsageRecord[],
): string =>
  page(
    'Usage',
    `<nav>${escape(email)}, plan ${plan} · <a href="/">Back</a></nav>
    <p>${dollars(toUsd(spent))} of ${dollars(usd)} this ${per}, and ${dollars(toUsd(held))} held by running requests</p>
    <meter value="${toUsd(spent + held)}" max="${usd}"></meter>
    ${plan === 'free' ? '<form method="post" action="/plan"><button>Change to pro</button></form>' : ''}
    <table>
      <tr><th>When</th><th>Model</th><th>Tokens</th><th>Cost</th></tr>
      ${records
        .map(
          ({ timestamp, model, tokens, cost_nano_usd }) =>
            `<tr><td>${timestamp.slice(0, 19).replace('T', ' ')}</td><td>${escape(model)}</td><td class="number">${tokens}</td>
            <td class="number">${cost_nano_usd === null ? 'unknown' : dollars(toUsd(cost_nano_usd))}</td></tr>`,
        )
        .join('')}
    </table>`,
  )
