import { scrubPath } from '@turnpike/core/internal'

const chat = 'The gateway has the Chat Completions API: use POST /v1/chat/completions.'
const none = 'The gateway does not offer this: use the provider’s own API.'

/** What to use in place of paths of vendors that the gateway does not have (ruling 43), by how they begin. */
const instead: [path: RegExp, hint: string][] = [
  [/^(\/openai)?(\/v1)?\/(responses|completions|conversations|assistants|threads|messages|complete|chat)\b/, chat],
  [/^\/(openai\/deployments|v1\/engines)\//, `${chat} The model is a field of the body.`],
  [/^\/v1(beta|alpha)?\/(models|publishers)\/.*:(\w*generateContent|countTokens)$/i, chat],
  [/^\/v1(beta|alpha)?\/models\/.*:\w*embed\w*$/i, 'Use POST /v1/embeddings.'],
  [/^(\/v1)?\/images\/(edits|variations)$/, 'Images are only generated: use POST /v1/images/generations.'],
  [
    /^(\/v1)?\/audio\/translations$/,
    'Use POST /v1/audio/transcriptions, and POST /v1/chat/completions to translate the text.',
  ],
  [
    /^(\/v1)?\/(moderations|files|uploads|batches|vector_stores|fine_tuning|evals|containers|videos|realtime|rerank|ocr)\b/,
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
  const hint = meant ? `Did you mean ${scrubPath(meant)}?` : instead.find(([form]) => form.test(tidy))?.[1]
  return [`There is nothing at ${scrubPath(path)}.`, hint].filter(Boolean).join(' ')
}
