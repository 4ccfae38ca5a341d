import { inShell } from '@turnpike/ui'
import type { RequestEvent } from './answers.js'

/** What stands for the content of a request, which the gateway does not keep. */
const contents: Record<string, object> = {
  chat: { messages: [{ role: 'user', content: 'Hello!' }] },
  embeddings: { input: 'Hello!' },
  images: { prompt: 'A road' },
  speech: { input: 'Hello!', voice: 'alloy' },
}

/** A command that sends a request like this one, with content of its own. */
export function curlOf({
  method,
  route,
  task,
  requested_model: model,
  stream,
}: Pick<RequestEvent, 'method' | 'route' | 'task' | 'requested_model' | 'stream'>): string {
  const parts = [
    `curl ${inShell(new URL(route.slice(1).replace('{model}', encodeURIComponent(model ?? '')), location.href).href)}`,
    ...(method === 'GET' || method === 'POST' ? [] : [`-X ${method}`]),
    '-H "Authorization: Bearer $GATEWAY_KEY"',
  ]
  if (task === 'transcription') parts.push(`--form-string model=${inShell(model ?? '')}`, '-F file=@audio.mp3')
  else if (method === 'POST') {
    const content = contents[task ?? ''] ?? {}
    const body = {
      ...(model !== undefined && { model }),
      ...(stream && { stream }),
      ...content,
    }
    parts.push("-H 'Content-Type: application/json'", `-d ${inShell(JSON.stringify(body))}`)
  }
  return parts.join(' \\\n  ')
}

/** A first request, for whoever has a key. */
export const firstCurl = (model: string): string =>
  curlOf({ method: 'POST', route: '/v1/chat/completions', task: 'chat', requested_model: model })
