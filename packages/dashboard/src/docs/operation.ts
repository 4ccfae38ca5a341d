import type { Answer, Api, Content, Operation, Schema } from './document.js'
import { changes, resolve, schemaName } from './document.js'
import { bodyOf } from './example.js'
import type { Html } from './html.js'
import { html, prose } from './html.js'
import type { Direction } from './schema.js'
import { linkTo, oursBadge, parameterList, schemaAnchor, schemaOf, typeOf } from './schema.js'
import { BASE, snippetsOf } from './snippets.js'
import { tryIt } from './try-it.js'

/** The places of parameters and their headings. */
const places = { path: 'Path', query: 'Query', header: 'Headers' }

/** A method, which shows whether it changes something. */
export const methodLabel = (operation: Operation): Html =>
  html`<span class="method${changes(operation) && ' changes'}">${operation.method}</span>`

/** The text of a snippet. The server's address is an element, in which the script puts the real one. */
const codeOf = (text: string): Html =>
  html`${text.split(BASE).map((part, i) => html`${i > 0 && html`<span class="base">${BASE}</span>`}${part}`)}`

const snippets = (operation: Operation): Html[] =>
  snippetsOf(operation).map(
    ({ title, text }) =>
      html`<div class="snippet">
        <div class="spread">
          <h4>${title}</h4>
          <button type="button" class="link copy">
            <span>Copy</span><span class="visually-hidden"> ${title} of ${operation.operationId}</span>
          </button>
        </div>
        <div class="code">
          <pre tabindex="0" aria-label="${title}"><code>${codeOf(text)}</code></pre>
        </div>
      </div>`,
  )

const parametersOf = ({ api, parameters }: Operation): Html[] =>
  Object.entries(places).map(([place, title]) => {
    const found = parameters.filter((one) => one.in === place)
    return html`${found.length > 0 && html`<h4>${title}</h4>`}${parameterList(api, found)}`
  })

/** What a media type carries: a line with the schema's name, and the schema in full unless the line says it all. */
function mediaOf(api: Api, type: string, schema: Schema | undefined, direction: Direction): Html {
  const shown = schema?.contentSchema ?? schema
  const full = shown && resolve(api, shown)
  const isPlain = !full || (full === shown && !full.properties && !full.items && !full.anyOf)
  return html`<p>
      <code>${type}</code>
      ${schema?.contentSchema && ' a stream of events with data'}
      ${full && full !== shown && html`<code>${typeOf(api, shown)}</code>${oursBadge(full)}`}
    </p>
    ${!isPlain && schemaOf(api, full, direction)}`
}

const contentOf = (api: Api, content: Content = {}, direction: Direction): Html[] =>
  Object.entries(content).map(([type, { schema }]) => mediaOf(api, type, schema, direction))

/** Headers of an answer, without the one that all have. */
function headersOf(api: Api, { headers = {} }: Answer): Html | undefined {
  const rest = Object.entries(headers).filter(([name]) => name !== 'X-Request-ID')
  if (rest.length === 0) return undefined
  return html`<p>Headers</p>
    ${parameterList(
      api,
      rest.map(([name, header]) => ({ ...header, name, required: false })),
    )}`
}

/** The schema of an error's body; undefined for any other answer. */
const errorOf = ({ content = {} }: Answer): string | undefined =>
  Object.values(content)
    .map(({ schema = {} }) => schemaName(schema))
    .find((name) => name === 'Error')

function answersOf({ api, answers }: Operation): Html {
  const good = answers.filter(([, answer]) => errorOf(answer) === undefined)
  const bad = answers.filter(([, answer]) => errorOf(answer) !== undefined)
  return html`<h4>Answers</h4>
    ${good.map(([status, answer]) => {
      // The same content as that of 200, or a part of it.
      const isPart = status === '206'
      return html`<p>
          <span class="status ${Number(status) < 400 ? 'good' : 'bad'}">${status}</span>
          ${status !== '200' && status !== '204' && prose(answer.description)} ${status === '204' && 'Without a body.'}
        </p>
        ${!isPart && contentOf(api, answer.content, 'received')}${!isPart && headersOf(api, answer)}`
    })}
    ${
      bad.length > 0 &&
      html`<h4>Errors</h4>
        <p>
          A body as <a href="${linkTo(schemaAnchor(api, 'Error'))}"><code>Error</code></a> describes it.
        </p>
        <dl class="errors">
          ${bad.map(
            ([status, answer]) =>
              html`<dt>${status}</dt>
                <dd>${prose(answer.description)}${oursBadge(answer)}</dd>`,
          )}
        </dl>`
    }`
}

/** The ways to prove who calls: a bearer token, or a cookie by its name. */
const credentialsOf = ({ api, security = [] }: Operation): Html[] =>
  security
    .flatMap((one) => Object.keys(one))
    .map((key) => {
      const { scheme, name, description } = api.security[key] ?? {}
      return html`<dd><code>${scheme === 'bearer' ? 'Bearer' : name}</code> ${prose(description)}</dd>`
    })

const factsOf = (operation: Operation): Html => {
  const credentials = credentialsOf(operation)
  return html`<dl class="facts">
    <dt>Operation</dt>
    <dd><a class="plain mono" href="${linkTo(operation.anchor)}">${operation.operationId}</a></dd>
    <dt>Access</dt>
    <dd>${prose(operation.description)}</dd>
    ${credentials.length > 0 && html`<dt>Credentials</dt>`}${credentials}
  </dl>`
}

/** An operation: a line that opens all there is to know. */
export function operationSection(operation: Operation): Html {
  const { api, anchor, operationId, path, summary } = operation
  const body = bodyOf(operation)
  return html`<details class="op" data-name="${operationId}">
    <summary>
      ${methodLabel(operation)}<code class="path">${path}</code>
      <span class="summary">${prose(summary)}</span>${oursBadge(operation)}
    </summary>
    <div class="op-body" id="${anchor}">
      <div class="stack">
        ${factsOf(operation)}${parametersOf(operation)}
        ${
          body &&
          html`<h4>Body</h4>
            ${mediaOf(api, body.mediaType, body.schema, 'sent')}`
        }
        ${answersOf(operation)}
      </div>
      <div class="stack beside">${snippets(operation)}${tryIt(operation)}</div>
    </div>
  </details> `
}

/** A named schema: a line that opens its fields. */
export const schemaSection = (api: Api, name: string): Html => {
  const schema = api.schemas[name]!
  return html`<details class="op">
    <summary><code class="path">${name}</code>${oursBadge(schema)}</summary>
    <div class="op-body" id="${schemaAnchor(api, name)}"><div class="stack">${schemaOf(api, schema, 'sent')}</div></div>
  </details> `
}
