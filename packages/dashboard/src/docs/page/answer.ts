/** Characters of an answer that are shown. What is longer is not read further. */
const MOST = 200_000

function element(tag: string, className: string, text = ''): HTMLElement {
  const made = document.createElement(tag)
  made.className = className
  made.textContent = text
  return made
}

const pretty = (text: string): string => {
  try {
    return JSON.stringify(JSON.parse(text), null, 2)
  } catch {
    return text
  }
}

function headersOf(response: Response): HTMLElement {
  const details = element('details', 'twin')
  const list = element('dl', 'facts')
  for (const [name, value] of response.headers) list.append(element('dt', 'mono', name), element('dd', 'mono', value))
  details.append(element('summary', '', 'Headers'), list)
  return details
}

/** Shows the text of an answer as it comes. @returns what is to be said of it */
async function showBody(response: Response, pre: HTMLElement): Promise<string> {
  const type = response.headers.get('content-type') ?? ''
  if (type !== '' && !/json|text|xml|subrip/.test(type)) {
    const { size } = await response.blob()
    pre.textContent = `${size.toLocaleString('en')} bytes of ${type}`
    return ''
  }
  if (!response.body) return ''
  let text = ''
  const reader = response.body.pipeThrough(new TextDecoderStream()).getReader()
  for (let part = await reader.read(); !part.done; part = await reader.read()) {
    text += part.value
    pre.append(part.value)
    if (text.length <= MOST) continue
    pre.textContent = text.slice(0, MOST)
    await reader.cancel()
    return 'The beginning is shown.'
  }
  if (type.includes('json')) pre.textContent = pretty(text)
  return ''
}

/** Sends a request, and shows its answer as text in a place, from where it can be ended. */
export async function showAnswer(request: Request, place: HTMLElement): Promise<void> {
  const controller = new AbortController()
  const status = element('span', 'status', 'Waiting…')
  const detail = element('span', 'muted')
  const cancel = element('button', 'quiet', 'Cancel') as HTMLButtonElement
  cancel.type = 'button'
  cancel.addEventListener('click', () => controller.abort())
  const line = element('div', 'row')
  line.setAttribute('role', 'status')
  line.append(status, detail, cancel)
  place.replaceChildren(line)

  const begin = performance.now()
  const duration = (): string => `${Math.round(performance.now() - begin).toLocaleString('en')} ms`
  try {
    const response = await fetch(request, { signal: controller.signal })
    status.textContent = `${response.status} ${response.statusText}`
    status.classList.add(response.ok ? 'good' : 'bad')
    const id = response.headers.get('x-request-id')
    detail.textContent = duration()
    const pre = element('pre', 'mono')
    pre.tabIndex = 0
    pre.setAttribute('aria-label', 'Answer')
    const code = element('div', 'code')
    code.append(pre)
    place.append(...(id === null ? [] : [element('p', 'small muted mono break', `X-Request-ID: ${id}`)]))
    place.append(headersOf(response), code)
    const said = await showBody(response, pre)
    detail.textContent = [duration(), said].join(' · ').replace(/ · $/, '')
    if (pre.textContent === '') code.remove()
  } catch (error) {
    status.classList.add('bad')
    if (controller.signal.aborted) detail.textContent = `Cancelled after ${duration()}`
    else {
      status.textContent = 'Failed'
      detail.textContent = (error as Error).message
    }
  }
  cancel.remove()
}
