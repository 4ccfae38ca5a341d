import { scrubPath } from '@turnpike/core/internal'

const chat = 'The gateway has the Chat Completions API: use POST /v1/chat/completions.'
const none = 'The gateway does not offer this: use the provider’s own API.'

/** What stands before the name of a resource in the addresses of vendors and proxies. */
const base = String.raw`^(?:/(?:v\d\w*|openai|api))*/`
const path = (form: string): RegExp => new RegExp(base + form, 'i')

/** What to use in place of paths of vendors that the gateway does not have (ruling 43), by how they begin. */
const instead: [path: RegExp, hint: string][] = [
  [path('(deployments|engines)/.*completions$'), `${chat} The model is a field of the body.`],
  [path('(deployments|engines)/.*embeddings$'), 'Use POST /v1/embeddings. The model is a field of the body.'],
  [path('(projects|models|publishers)/.*:(\\w*generateContent|\\w*rawPredict|countTokens)$'), chat],
  [path('(projects|models|publishers)/.*:\\w*embed\\w*$'), 'Use POST /v1/embeddings.'],
  [path('model/.*/(converse|invoke)'), chat],
  [path('images/(edits|variations)$'), 'Images are only generated: use POST /v1/images/generations.'],
  [
    path('audio/translations$'),
    'Use POST /v1/audio/transcriptions, and POST /v1/chat/completions to translate the text.',
  ],
  [
    path(
      '(responses|((fim|agents)/)?completions?|conversations|assistants|threads|messages|complete|chat|generate)\\b',
    ),
    chat,
  ],
  [
    path(
      '(moderations|files|uploads|batches|vector_stores|fine_tuning|fine-tunes|evals|containers|videos|realtime|(re)?rank|ocr|edits|skills|chatkit|organization|usage|dashboard|score|classify|tokenize|detokenize|search)\\b',
    ),
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
  const known = instead.find(([form]) => form.test(tidy))?.[1]
  const other = `/v1${tidy.replace(new RegExp(base, 'i'), '/')}`
  const hint = meant ?? (!known && other !== path && has(other) ? other : undefined)
  return [`There is nothing at ${scrubPath(path)}.`, hint ? `Did you mean ${scrubPath(hint)}?` : known]
    .filter(Boolean)
    .join(' ')
}
