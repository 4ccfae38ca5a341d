import { MARK } from '@turnpike/ui/mark'
import type { Api, ApiDocuments, Operation } from './document.js'
import { byTag, readDocuments } from './document.js'
import type { Html } from './html.js'
import { html, print, prose } from './html.js'
import { methodLabel, operationSection, schemaSection } from './operation.js'
import { linkTo } from './schema.js'

const tagAnchor = ({ name }: Api, tag: string): string => `${name}/${tag}`

/** The name of an operation within its tag: `create` of `keys.create`. */
const shortName = ({ operationId }: Operation, tag: string): string =>
  operationId.startsWith(`${tag}.`) ? operationId.slice(tag.length + 1) : operationId

const contents = (api: Api): Html =>
  html`<section>
    <h2 class="small muted">${api.title}</h2>
    <ul class="tags">
      ${byTag(api).map(
        ([tag, operations]) =>
          html`<li>
            <a class="tag" href="${linkTo(tagAnchor(api, tag))}">${tag}</a>
            <ul>
              ${operations.map((one) => html`<li data-of="${one.anchor}"><a href="${linkTo(one.anchor)}">${methodLabel(one)}${shortName(one, tag)}</a></li>`)}
            </ul>
          </li> `,
      )}
      <li><a class="tag" href="${linkTo(tagAnchor(api, 'schemas'))}">schemas</a></li>
    </ul>
  </section>`

const panel = (id: string, content: readonly Html[], title?: string): Html =>
  html`<section class="panel group" id="${id}">
    ${title !== undefined && html`<header><h3>${title}</h3></header>`}${content}
  </section>`

/** A part of the page with what it is about; the filter hides it where it contains nothing that is looked for. */
const part = (title: string, description: string, api: Api, panels: readonly Html[]): Html =>
  html`<section class="stack api group" data-api="${api.name}" data-server="${api.server}">
    <div>
      <h2>${title}</h2>
      <p class="muted">${description}</p>
    </div>
    ${panels}
  </section>`

const operations = (api: Api): Html =>
  part(
    api.title,
    api.description,
    api,
    byTag(api).map(([tag, all]) => panel(tagAnchor(api, tag), all.map(operationSection), tag)),
  )

const schemas = (api: Api): Html => {
  const all = Object.keys(api.schemas).map((name) => schemaSection(api, name))
  return part(`Schemas of ${api.title}`, 'What bodies and answers refer to by name.', api, [
    panel(tagAnchor(api, 'schemas'), all),
  ])
}

const sources = (apis: readonly Api[]): Html =>
  html`<span class="row"
    >${apis
      .filter(({ source }) => source !== undefined)
      .map(
        ({ title, source, server }) =>
          html`<a class="button quiet" href="${server.replace(/\/$/, '')}${source}">OpenAPI: ${title}</a>`,
      )}</span
  >`

const credentials = (apis: readonly Api[]): Html =>
  html`<section class="panel scripted" id="credentials" aria-label="Credentials">
    <header><h2>Credentials</h2></header>
    <div class="body stack">
      <p class="muted">
        “Try it” sends these as bearer tokens; they are forgotten when the page is closed. Without one, it sends the
        session of this browser, which is enough for the platform and <code>/admin</code>, and not for <code>/v1</code>.
      </p>
      <div class="inputs">
        ${apis.map(
          ({ name, title, security }) =>
            html`<label class="field">
              <span>${title}</span>
              <input type="password" autocomplete="off" data-token="${name}" />
              <span class="small muted"
                >${Object.values(security)
                  .filter(({ scheme }) => scheme === 'bearer')
                  .map(({ description }) => html`${prose(description)} `)}</span
              >
            </label>`,
        )}
      </div>
    </div>
  </section>`

/** What is asked before a request is sent that changes something or is billed. */
const question = html`<dialog class="box" aria-labelledby="ask-title">
  <header><h2 id="ask-title">Send this request?</h2></header>
  <div class="body">
    <p class="mono break"></p>
    <p></p>
    <div class="row end">
      <button type="button" value="">Cancel</button><button type="button" class="primary" value="send">Send</button>
    </div>
  </div>
</dialog>`

/** The body of the page. */
export function docsBody(documents: ApiDocuments): string {
  const apis = readDocuments(documents)
  return print(
    html`<body>
      <div class="shell docs">
        <a class="skip" href="#main">Skip to content</a>
        <header class="side">
          <div class="brand">
            <svg
              width="20"
              height="20"
              viewBox="0 0 20 20"
              fill="none"
              stroke="currentColor"
              stroke-width="2"
              aria-hidden="true"
            >
              <path d="${MARK}" /></svg
            >Turnpike
          </div>
          <label class="field scripted filter"
            ><span class="visually-hidden">Filter operations</span
            ><input type="search" placeholder="Filter operations: /" aria-keyshortcuts="/"
          /></label>
          <p class="small muted" role="status" id="found"></p>
          <p class="visually-hidden" role="status" id="said"></p>
          <nav aria-label="Operations">${apis.map(contents)}</nav>
          <div class="side-foot scripted"><button type="button" class="quiet" id="theme">System theme</button></div>
        </header>
        <main id="main" tabindex="-1">
          <div class="page">
            <div class="page-head">
              <h1>API</h1>
              ${sources(apis)}
            </div>
            <div class="notice warn">
              <p>
                <span class="badge amber">ours</span> marks conventions: operations, fields and values that the
                specification leaves open and that we chose. Everything else is as the specification shows it.
              </p>
            </div>
            ${credentials(apis)} ${apis.map(operations)} ${apis.map(schemas)}
          </div>
        </main>
      </div>
      ${question}
    </body>`,
  )
}
