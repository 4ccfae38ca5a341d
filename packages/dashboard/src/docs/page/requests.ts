import { settle } from '@turnpike/ui/clickjacking'
import { showAnswer } from './answer.js'

/** The address of the server that an element's document describes, without a slash at its end. */
export const serverOf = (element: Element): string =>
  new URL(element.closest<HTMLElement>('[data-server]')!.dataset['server']!, location.href).href.replace(/\/$/, '')

/** What a form says: the fields of a kind, by name. */
function fieldsOf(form: HTMLFormElement, kind: string): [name: string, value: FormDataEntryValue][] {
  const all = [...new FormData(form)].filter(([, value]) => (value instanceof File ? value.name !== '' : value !== ''))
  return all.flatMap(([name, value]) => (name.startsWith(`${kind} `) ? [[name.slice(kind.length + 1), value]] : []))
}

function bodyOf(form: HTMLFormElement): { body?: BodyInit; type?: string } {
  const text = form.querySelector('textarea')
  if (text) return { body: text.value, type: text.dataset['type']! }
  if (!form.querySelector('[type=file]')) return {}
  const body = new FormData()
  // The file last: fields before it are known while it arrives.
  for (const [name, value] of [...fieldsOf(form, 'form'), ...fieldsOf(form, 'file')]) body.append(name, value)
  return { body }
}

function requestOf(form: HTMLFormElement): Request {
  const { method, path } = form.dataset as { method: string; path: string }
  const api = form.closest<HTMLElement>('[data-api]')!.dataset['api']!
  const params = new Map(fieldsOf(form, 'path'))
  const query = new URLSearchParams(fieldsOf(form, 'query') as [string, string][]).toString()
  const url =
    serverOf(form) + path.replaceAll(/\{([^}]*)\}/g, (_, name) => encodeURIComponent(String(params.get(name))))
  const token = document.querySelector<HTMLInputElement>(`[data-token="${CSS.escape(api)}"]`)!.value.trim()
  const { body, type } = bodyOf(form)
  const headers = new Headers(fieldsOf(form, 'header') as [string, string][])
  if (type !== undefined) headers.set('content-type', type)
  if (token) headers.set('authorization', `Bearer ${token}`)
  return new Request(query ? `${url}?${query}` : url, {
    method,
    headers,
    ...(body !== undefined && { body }),
    credentials: token ? 'omit' : 'same-origin',
    cache: 'no-store',
  })
}

const warnings: Record<string, string> = {
  change: 'It may change something on the server.',
  bill: 'A provider answers it and may charge for it.',
}

/** Asks whether a request is to be sent. A click that agrees counts once the question has been in sight for a moment. */
function ask({ method, url }: Request, why: string): Promise<boolean> {
  const dialog = document.querySelector('dialog')!
  const agree = dialog.querySelector<HTMLButtonElement>('.primary')!
  const [line, reason] = dialog.querySelectorAll('p')
  line!.textContent = `${method} ${new URL(url).pathname}`
  reason!.textContent = warnings[why]!
  dialog.returnValue = ''
  dialog.showModal()
  const end = settle((isSettled) => (agree.ariaDisabled = String(!isSettled)))
  return new Promise((resolve) => {
    const answer = (): void => {
      end()
      resolve(dialog.returnValue !== '')
    }
    dialog.addEventListener('close', answer, { once: true })
  })
}

/** Sends what the forms of the operations say. */
export function startRequests(): void {
  const dialog = document.querySelector('dialog')!
  for (const button of dialog.querySelectorAll('button'))
    button.addEventListener('click', ({ detail }) => {
      // Keys have no detail, and are no click that was meant for something else.
      if (button.ariaDisabled !== 'true' || detail === 0) dialog.close(button.value)
    })
  document.addEventListener('submit', (event) => {
    event.preventDefault()
    void send(event.target as HTMLFormElement)
  })
}

async function send(form: HTMLFormElement): Promise<void> {
  let place = form.querySelector<HTMLElement>('.result')
  if (!place) {
    place = document.createElement('div')
    place.className = 'result stack'
    form.append(place)
  }
  let request: Request
  try {
    request = requestOf(form)
  } catch (error) {
    // A value that no header can have.
    place.textContent = (error as Error).message
    return
  }
  const { asks } = form.dataset
  if (asks !== undefined && !(await ask(request, asks))) return
  const button = form.querySelector<HTMLButtonElement>('.primary')!
  button.disabled = true
  await showAnswer(request, place)
  button.disabled = false
}
