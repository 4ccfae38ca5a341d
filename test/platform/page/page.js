// What a page of a user's app does: it signs in, uploads a picture, shows it, and chats. It has a cookie and no token.
import OpenAI from 'openai'

const element = (id) => document.querySelector(`#${id}`)

const json = { 'content-type': 'application/json' }

async function signIn(email, password) {
  const body = JSON.stringify({ email, password, cookie: true })
  const { status } = await fetch('/api/auth', { method: 'POST', headers: json, body })
  element('signed-in').textContent = String(status)
}

/** Uploads a file, and shows how far it is. */
const upload = (file) =>
  new Promise((resolve, reject) => {
    const form = new FormData()
    form.append('file', file)
    form.append('displayName', 'My picture')
    const request = new XMLHttpRequest()
    const progress = element('progress')
    let steps = 0
    request.upload.addEventListener('progress', ({ loaded, total }) => {
      progress.value = loaded / total
      progress.dataset.steps = String(++steps)
    })
    request.addEventListener('load', () =>
      request.status === 200 ? resolve(JSON.parse(request.responseText)) : reject(new Error(request.responseText)),
    )
    request.addEventListener('error', () => reject(new Error('The upload failed')))
    request.open('POST', '/api/user-files')
    request.send(form)
  })

async function chat(question) {
  const client = new OpenAI({
    baseURL: `${location.origin}/api/gateway/v1`,
    // The browser sends the cookie; there is no key.
    apiKey: 'unused',
    defaultHeaders: { Authorization: null },
    dangerouslyAllowBrowser: true,
  })
  const stream = await client.chat.completions.create({
    model: 'gpt-4o-mini',
    messages: [{ role: 'user', content: question }],
    stream: true,
  })
  const answer = element('answer')
  for await (const { choices } of stream) {
    answer.textContent += choices[0]?.delta.content ?? ''
    answer.dataset.chunks = String(Number(answer.dataset.chunks ?? 0) + 1)
  }
  answer.dataset.done = 'true'
}

element('sign-in').addEventListener('submit', (event) => {
  event.preventDefault()
  void signIn(element('email').value, element('password').value)
})
element('file').addEventListener('change', async ({ target }) => {
  const { url } = await upload(target.files[0])
  element('picture').src = url
})
element('ask').addEventListener('submit', (event) => {
  event.preventDefault()
  void chat(element('question').value)
})
