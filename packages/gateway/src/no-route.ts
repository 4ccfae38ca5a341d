import { scrubPath } from '@turnpike/core/helpers'

const chat = 'The gateway has the Chat Completions API: use POST /v1/chat/completions.'
const none = 'The gateway does not offer this: use the provider’s own API.'

/** What stands before the name of a resource in the addresses of vendors and proxies. */
const base = /^(?:\/(?:v\d(?:alpha|beta)?\d?|openai|api))*\//i

/** What to use in place of resources of vendors that the gateway does not have, by how they begin. */
const instead: [resource: RegExp, hint: string][] = [
  [/^(deployments|engines)\/.*completions$/i, `${chat} The model is a field of the body.`],
  [/^(deployments|engines)\/.*embeddings$/i, 'Use POST /v1/embeddings. The model is a field of the body.'],
  [/^(projects|models|publishers)\/.*:((stream|batch)?generateContent|(stream)?rawPredict|countTokens)$/i, chat],
  [/^(projects|models|publishers)\/.*:(async)?(batch)?embed/i, 'Use POST /v1/embeddings.'],
  [/^model\/.*\/(converse|invoke)/i, chat],
  [/^images\/(edits|variations)$/i, 'Images are only generated: use POST /v1/images/generations.'],
  [/^audio\/translations$/i, 'Use POST /v1/audio/transcriptions, and POST /v1/chat/completions to translate the text.'],
  [
    /^(responses|((fim|agents)\/)?completions?|conversations|assistants|threads|messages|complete|chat|generate)\b/i,
    chat,
  ],
  [
    /^(moderations|files|uploads|batches|vector_stores|fine_tuning|fine-tunes|evals|containers|videos|realtime|(re)?rank|ocr|edits|skills|chatkit|organization|usage|dashboard|score|classify|tokenize|detokenize|search)\b/i,
    none,
  ],
]

/**
 * The message of the 404 for a path that no route has: it names the path, and says what to use, or which path may be meant.
 * @param has whether there is a route for a path
 */
export function nothingAt(path: string, has: (path: string) => boolean): string {
  const tidy = path.replace(/\/{2,}/g, '/').replace(/(.)\/$/, '$1')
  const once = tidy.replace(/^(\/v1)+(?=\/)/, '')
  const meant = [tidy, `/v1${tidy}`, `/v1${once}`].find((one) => one !== path && has(one))
  const resource = tidy.replace(base, '')
  const known = instead.find(([form]) => form.test(resource))?.[1]
  const other = `/v1/${resource}`
  const hint = meant ?? (!known && other !== path && has(other) ? other : undefined)
  return [`There is nothing at ${scrubPath(path)}.`, hint ? `Did you mean ${scrubPath(hint)}?` : known]
    .filter(Boolean)
    .join(' ')
}
