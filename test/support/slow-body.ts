/**
 * What `fetch` needs for a body that ends some time after its head, so that its caller is looked up again.
 * @param body a form, or what is sent as JSON
 * @param meanwhile done in between
 */
export async function slowBody(body: object, meanwhile: () => unknown) {
  const whole = body instanceof FormData ? new Response(body) : Response.json(body)
  const bytes = new Uint8Array(await whole.arrayBuffer())
  const stream = new ReadableStream<Uint8Array>({
    async start(controller) {
      controller.enqueue(bytes.subarray(0, 1))
      await new Promise((resolve) => setTimeout(resolve, 200))
      await meanwhile()
      controller.enqueue(bytes.subarray(1))
      controller.close()
    },
  })
  return { type: whole.headers.get('content-type')!, init: { body: stream, duplex: 'half' as const } }
}
