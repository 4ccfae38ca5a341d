import type { Schemas } from '@turnpike/client'
import { ActionButton, ErrorNotice, linkTo, Notice, route, useAction } from '@turnpike/ui'
import { turnpike } from '../turnpike.js'

type Providers = Schemas['SignInOptions']['providers']

/** Characters of a path that the platform takes. */
const RETURN_LENGTH = 1_000

/** The page that was asked for, as a path of this server. Not what stands in its query: a problem is over by then. */
function pathHere(): string {
  const { path } = route.value
  const whole = `${location.pathname}${path === '/link' ? '' : linkTo(path)}`
  return whole.length > RETURN_LENGTH ? location.pathname : whole
}

function ProviderButton({ id, name, token }: Providers[number] & { token: string | undefined }) {
  const going = useAction(async () => {
    const body = { returnTo: pathHere(), ...(token !== undefined && { token }) }
    const { url } = await turnpike.post('/api/auth/providers/{provider}', { params: { provider: id }, body })
    location.assign(url)
  })
  return (
    <>
      <ActionButton action={going} onClick={going.run} class="wide">
        {going.busy ? `Going to ${name}…` : `Continue with ${name}`}
      </ActionButton>
      <ErrorNotice error={going.error} />
    </>
  )
}

/**
 * Buttons by which people sign in at identity providers; nothing where there are none.
 * @param token of a link that makes an account, which is used by it
 * @param isBeside whether there is another way above
 */
export function ProviderButtons({
  providers,
  token,
  isBeside,
}: {
  providers: Providers
  token?: string
  isBeside: boolean
}) {
  if (providers.length === 0) return null
  return (
    <div class="stack">
      {isBeside && <p class="or small muted">or</p>}
      {providers.map((one) => (
        <ProviderButton key={one.id} {...one} token={token} />
      ))}
    </div>
  )
}

/** What may be wrong with a sign-in that comes back from a provider (docs/sign-in.md). */
const problems: Record<string, string> = {
  cancelled: 'The sign-in was cancelled there.',
  over: 'This sign-in is over, or was begun in another browser. Try again.',
  provider:
    'The identity provider cannot be reached, or what it answered is not right. Try again, or ask an administrator.',
  unverified:
    'The identity provider has not told an e-mail that it has verified, so nobody can tell whose account this is.',
  'other-email':
    'The link that you have opened is for another e-mail than the one that the identity provider knows of you. Use the account there that has it.',
  'not-allowed': 'You are known there, but have no account here. Ask an administrator to invite you.',
}

/** Tells why a sign-in at a provider has failed, where the page was opened by one. */
export function ProviderProblem() {
  const text = problems[route.value.query.get('problem') ?? '']
  return text === undefined ? null : <Notice tone="bad">{text}</Notice>
}
