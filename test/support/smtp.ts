import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import type { Email } from 'postal-mime'
import PostalMime from 'postal-mime'
import type { SMTPServerOptions } from 'smtp-server'
import { SMTPServer } from 'smtp-server'
import { expect } from 'vitest'

/** A message as a server has received it, with the addresses of its envelope. */
export interface Received extends Email {
  /** In lower case. */
  envelope: { from: string; to: string[] }
}

/** A server of mail, which keeps what it receives. */
export interface Smtp {
  /** `smtp://127.0.0.1:PORT`. */
  url: string
  received: Received[]
  /** Waits for the next message to an address. */
  next(to: string): Promise<Received>
  close(): Promise<void>
}

/** Starts a server of mail without TLS. @param options further options of smtp-server */
export async function startSmtp(options: SMTPServerOptions = {}): Promise<Smtp> {
  const received: Received[] = []
  const taken = new Set<Received>()
  const server = new SMTPServer({
    authOptional: true,
    disabledCommands: ['STARTTLS'],
    onData(stream, { envelope }, done) {
      void (async () => {
        const chunks: Buffer[] = []
        for await (const chunk of stream) chunks.push(chunk as Buffer)
        const { mailFrom, rcptTo } = envelope
        const from = mailFrom ? mailFrom.address : ''
        const email = await PostalMime.parse(Buffer.concat(chunks))
        received.push({ ...email, envelope: { from, to: rcptTo.map(({ address }) => address.toLowerCase()) } })
        done()
        // A client that was killed while it sent.
      })().catch(done)
    },
    ...options,
  })
  // A client that leaves early.
  server.on('error', () => undefined)
  await once(server.listen(0, '127.0.0.1'), 'listening')
  const { port } = server.server.address() as AddressInfo
  return {
    url: `smtp://127.0.0.1:${port}`,
    received,
    async next(to) {
      const find = (): Received | undefined =>
        received.find((one) => !taken.has(one) && one.envelope.to.includes(to.toLowerCase()))
      await expect.poll(find, { message: `a message to ${to}` }).toBeDefined()
      const message = find()!
      taken.add(message)
      return message
    },
    close: () => new Promise((resolve) => server.close(() => resolve())),
  }
}

/** The address of the link in a message, which is the same in its text and its HTML. */
export function linkIn({ text = '', html = '' }: Email): string {
  const [link] = /https?:\/\/\S+/.exec(text)!
  expect(html).toContain(`href="${link}"`)
  return link
}

/** The token of a link. */
export const tokenOf = (link: string): string => /#\/link\?token=([\w-]{43})$/.exec(link)![1]!
