import type { Operation } from './document.js'
import { changes, isBilled, resolve } from './document.js'
import { bodyOf, isFile } from './example.js'
import type { Html } from './html.js'
import { html } from './html.js'

/** A control with its label. The names of controls begin with the part of the request that they are for, such as `query limit`. */
const field = (label: string, control: Html): Html => html`<label class="field"><span>${label}</span>${control}</label>`

const input = (name: string, value?: unknown, required = false): Html =>
  html`<input
    name="${name}"
    autocomplete="off"
    ${value !== undefined && html`value="${String(value)}"`}
    ${required && html`required`}
  />`

const parameters = (operation: Operation): Html[] =>
  operation.parameters
    .filter((one) => one.in !== 'cookie')
    .map(({ in: place, name, required }) => field(name, input(`${place} ${name}`, undefined, required)))

/** The fields of a form in place of a JSON body. */
function formFields(operation: Operation): Html[] {
  const body = bodyOf(operation)
  if (!body?.mediaType.startsWith('multipart/')) return []
  const example = body.example as Record<string, unknown>
  return Object.entries(resolve(operation.api, body.schema).properties ?? {}).map(([name, schema]) =>
    field(
      name,
      isFile(schema) ? html`<input name="file ${name}" type="file" />` : input(`form ${name}`, example[name]),
    ),
  )
}

function bodyField(operation: Operation): Html | undefined {
  const body = bodyOf(operation)
  if (!body || body.mediaType.startsWith('multipart/')) return undefined
  const text = JSON.stringify(body.example, null, 2)
  const rows = text.split('\n').length + 1
  return field(
    'Body',
    html`<textarea name="body" class="mono" rows="${rows}" spellcheck="false" data-type="${body.mediaType}">
${text}</textarea>`,
  )
}

/** A form that sends a request, by the page's script. */
export function tryIt(operation: Operation): Html {
  const { method, path, security = [] } = operation
  const inputs = [...parameters(operation), ...formFields(operation)]
  const asks = changes(operation) && (isBilled(operation) ? 'bill' : 'change')
  return html`<details class="try">
    <summary>Try it</summary>
    <form class="stack" data-method="${method}" data-path="${path}" ${asks && html`data-asks="${asks}"`}>
      ${inputs.length > 0 && html`<div class="inputs">${inputs}</div>`}${bodyField(operation)}
      <div class="row">
        <button class="primary">Send</button>
        ${security.length > 0 && html`<a href="#credentials">Credentials</a>`}
      </div>
    </form>
  </details>`
}
