import { Announcement, Code } from '@turnpike/ui'

/** A link that was not sent, which the server does not show again. */
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
  <Announcement tone="warn">
    <p class="break">
      {error === undefined ? 'No e-mail is sent from here. ' : `The message to ${to} was not sent: ${error}. `}
      Hand this link on to <strong>{to}</strong>, and to nobody else: it is shown this once.
    </p>
    <Code text={new URL(url, location.href).href} label="The link" />
    <div>
      <button type="button" onClick={onDone}>
        I have copied it
      </button>
    </div>
  </Announcement>
)
