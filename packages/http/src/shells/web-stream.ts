const utf8 = new TextEncoder()

/** The client of an answer. */
export interface Client {
  /** Registers a listener for its disconnecting; called at once if it has. */
  onDisconnect(listener: () => void): void
  /** Says that it has disconnected. */
  disconnect(): void
}

/** Bytes of a chunk of the stream, so that a slow reader is seen to take a large one. */
const PIECE = 64 * 1024

/**
 * Converts the body of an answer to a web stream with backpressure. The body is ended with its client, as hosts may leave a stream that nobody wants
 * unread.
 * @param client told first when the stream is cancelled, because `return` does not interrupt a generator that is awaiting
 * @param idleMs how long the stream may wait to be read, in milliseconds, before it is cancelled and fails; it may take twice as long
 */
export function webStream(
  body: AsyncIterable<string | Uint8Array>,
  client: Client,
  idleMs: number,
): ReadableStream<Uint8Array> {
  const iterator = body[Symbol.asyncIterator]()
  /** What is left of a large chunk. */
  let rest: Uint8Array | undefined
  let pulling = false
  let pulled = false
  let timer: ReturnType<typeof setInterval> | undefined
  let left: Promise<unknown> | undefined
  const cancel = async (): Promise<void> => {
    client.disconnect()
    await left
  }
  return new ReadableStream<Uint8Array>(
    {
      start(controller) {
        // One timer per stream, because one per chunk would cost more than the rest of this.
        timer = setInterval(() => {
          if (!pulling && !pulled) {
            controller.error(new Error('The stream was not read'))
            void cancel().catch(() => undefined)
          }
          pulled = false
        }, idleMs)
        client.onDisconnect(() => {
          clearInterval(timer)
          left = iterator.return?.()
          left?.catch(() => undefined)
        })
      },
      async pull(controller) {
        pulling = pulled = true
        try {
          if (!rest) {
            const { done, value } = await iterator.next()
            if (done) {
              clearInterval(timer)
              return controller.close()
            }
            rest = typeof value === 'string' ? utf8.encode(value) : value
          }
          const bytes = rest
          rest = bytes.length > PIECE ? bytes.subarray(PIECE) : undefined
          controller.enqueue(rest ? bytes.subarray(0, PIECE) : bytes)
        } catch (error) {
          clearInterval(timer)
          throw error
        } finally {
          pulling = false
        }
      },
      cancel,
    },
    { highWaterMark: 0 },
  )
}
