import { ShownOnce } from './shown-once.js'

/** A link to somebody that was not sent. @param error why; default: no mail is set up */
export const LinkToHandOn = ({
  to,
  url,
  error,
  onDone,
}: {
  to: string
  url: string
  error?: string | undefined
  onDone: () => void
}) => (
  <ShownOnce label="The link" value={new URL(url, location.href).href} onDone={onDone}>
    {error === undefined ? 'No e-mail is sent from here. ' : `The message to ${to} was not sent: ${error}. `}
    Hand this link on to <strong>{to}</strong>, and to nobody else: it is shown this once.
  </ShownOnce>
)
