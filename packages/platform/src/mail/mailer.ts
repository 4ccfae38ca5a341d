/** A message to one person, as text and as HTML. */
export interface MailMessage {
  /** One e-mail address. */
  to: string
  subject: string
  text: string
  html: string
}

/** Sends messages: by SMTP, or by the API of a vendor. */
export interface Mailer {
  /** Resolves once the message was accepted. Rejects with an error whose message administrators read. */
  send(message: MailMessage): Promise<void>
}
