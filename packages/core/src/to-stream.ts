const utf8 = new TextEncoder()

/**
 * Converts an async iterable to a web stream with backpressure.
 * @param onCancel called first when the stream is cancelled, because `return` does not interrupt a generator that is awaiting
 */
export function toStream(
  body: AsyncIterable<string | Uint8Array>,
  onCancel: () => void = () => undefined,
): ReadableStream<Uint8Array> {
  const iterator = body[Symbol.asyncIterator]()
  return new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        const { done, value } = await iterator.next()
        if (done) controller.close()
        else controller.enqueue(typeof value === 'string' ? utf8.encode(value) : value)
      },
      async cancel() {
        onCancel()
        await iterator.return?.()
      },
    },
    { highWaterMark: 0 },
  )
}
