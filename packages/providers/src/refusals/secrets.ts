import type { ChatProvider, ChatStream, ChunkChoice, Model } from '@turnpike/core'
import { UpstreamError } from '@turnpike/core'
import { extend, Pieces, readerOf } from '@turnpike/core/helpers'

/** Least length of a secret that is looked for in texts: a shorter one is none, and could be part of any text. */
const LENGTH = 8
/** Secrets that expire which are remembered, because answers to requests with replaced ones still come. */
const REMEMBERED = 100

/** The headers that are the same for everybody. Others have a credential, or are the operator's own, which may be secret. */
const PUBLIC =
  /^(accept|accept-encoding|anthropic-(beta|version)|content-type|host|user-agent|x-amz-(content-sha256|date))$/

/** The credentials in the headers of a request, and what else an operator has put there. */
export const credentialsIn = (headers: Record<string, string>): string[] =>
  Object.keys(headers)
    .filter((name) => !PUBLIC.test(name))
    .map((name) => headers[name]!.replace(/^(Bearer|Basic) +/i, ''))

/** The credentials of a provider: some upstreams repeat in errors what they were called with. */
export class Secrets {
  readonly #lasting: string[] = []
  /** The last used is the last. */
  readonly #expiring = new Set<string>()

  /** Adds secrets that last as long as the provider. */
  keep(...secrets: string[]): void {
    this.#lasting.push(...secrets)
  }

  /** Adds secrets that expire. */
  add(...secrets: string[]): void {
    for (const secret of secrets) {
      this.#expiring.delete(secret)
      this.#expiring.add(secret)
    }
    for (const oldest of this.#expiring) if (this.#expiring.size > REMEMBERED) this.#expiring.delete(oldest)
  }

  /** A text without the secrets, also as JSON, URLs and HTML write them. */
  hide(text: string): string {
    return [...this.#lasting, ...this.#expiring]
      .filter(({ length }) => length >= LENGTH)
      .flatMap((secret) => [secret, JSON.stringify(secret).slice(1, -1), encodeURIComponent(secret), inHtml(secret)])
      .toSorted((a, b) => b.length - a.length) // One may be the beginning of another.
      .reduce((left, secret) => left.replaceAll(secret, '[redacted]'), text)
  }

  /** A cause, unless it or one of its own tells a secret. */
  #cause(cause: unknown): unknown {
    for (let one = cause; one instanceof Error; one = one.cause)
      if (this.hide(one.message) !== one.message) return undefined
    return cause
  }

  /** An error without the secrets: the same if it tells none. */
  hideIn(error: unknown): unknown {
    if (!UpstreamError.is(error)) return error
    const { message, failure } = error
    const { code, encoding, cause } = failure
    const safe = {
      code: code && this.hide(code),
      encoding: encoding && this.hide(encoding),
      cause: this.#cause(cause),
    }
    const isSafe = safe.code === code && safe.encoding === encoding && safe.cause === cause
    return isSafe && this.hide(message) === message
      ? error
      : new UpstreamError(this.hide(message), extend(failure, safe))
  }
}

const entities: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&#39;' }
const inHtml = (text: string): string => text.replace(/[&<>"']/g, (one) => entities[one]!)

/** A provider whose upstream cannot tell `secrets`, neither by errors nor by its list of models. */
export function withoutSecrets(provider: ChatProvider, secrets: Secrets): ChatProvider {
  const fail = (error: unknown): never => {
    throw secrets.hideIn(error)
  }
  const safe =
    <Given extends unknown[], Answer>(run: (...given: Given) => Promise<Answer>) =>
    (...given: Given) =>
      run(...given).catch(fail)
  const safeModel = (model: Model): Model =>
    extend(model, { id: secrets.hide(model.id), owned_by: secrets.hide(model.owned_by) })
  const safeStream = (stream: ChatStream): ChatStream => {
    const batches = stream.batches[Symbol.asyncIterator]()
    const read = readerOf(batches)
    return extend(stream, {
      batches: new Pieces<ChunkChoice[]>(
        (onResult, onError) => read(onResult, (error) => onError(secrets.hideIn(error))),
        async () => void (await batches.return?.()),
      ),
    })
  }
  const { chat, models, check, embeddings, images, speech, transcription } = provider
  return {
    ...provider,
    models: (call) => safe(models)(call).then((list) => list.map(safeModel)),
    ...(check && { check: safe(check) }),
    chat: {
      ...chat,
      complete: safe(chat.complete),
      stream: (request, call) => safe(chat.stream)(request, call).then(safeStream),
    },
    ...(embeddings && { embeddings: safe(embeddings) }),
    ...(images && { images: safe(images) }),
    ...(speech && { speech: safe(speech) }),
    ...(transcription && { transcription: safe(transcription) }),
  }
}
