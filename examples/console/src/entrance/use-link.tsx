import { effect, signal } from '@preact/signals'
import type { Schemas } from '@turnpike/client'
import { Entrance, Field, Form, goTo, linkTo, Loaded, Page, route, textOf, useAction, useData } from '@turnpike/ui'
import { NewPassword, passwordIn } from '../password.js'
import { account, signIn, turnpike } from '../turnpike.js'
import { useOptions } from './options.js'
import { ProviderButtons } from './providers.js'

/** The token of the link by which the page was opened; '' where there was none. It does not stay in the address, nor in the history. */
const token = signal('')
effect(() => {
  const { path, query } = route.value
  const given = query.get('token')
  if (path !== '/link' || !given) return
  token.value = given
  goTo('/link', {}, true)
})

const titles: Record<Schemas['Link']['kind'], string> = {
  password: 'Set a new password',
  invitation: 'Accept the invitation',
  'sign-up': 'Finish signing up',
}

/** Asks for a password and, where the link makes an account, for a name; then signs in. */
function Choice({ link: { kind, email }, value }: { link: Schemas['Link']; value: string }) {
  const isNew = kind !== 'password'
  const using = useAction(async (fields: FormData) => {
    const password = passwordIn(fields, 'password')
    const names = isNew && { firstName: textOf(fields, 'firstName'), lastName: textOf(fields, 'lastName') }
    await turnpike.put('/api/auth/link', { body: { token: value, password, ...names } })
    // Whoever was signed in here is somebody else, or was signed out by it. The link is used: what fails now is tried again at the sign-in.
    account.value = null
    goTo('/', {}, true)
    await signIn(email, password)
  })
  return (
    <Form action={using} label={isNew ? 'Make my account' : 'Set the password'}>
      <p class="break">
        {isNew ? 'You will sign in as' : 'For'} <strong>{email}</strong>
      </p>
      {isNew && (
        <>
          <Field label="First name">
            {(ids) => <input {...ids} name="firstName" maxLength={200} autocomplete="given-name" />}
          </Field>
          <Field label="Last name">
            {(ids) => <input {...ids} name="lastName" maxLength={200} autocomplete="family-name" />}
          </Field>
        </>
      )}
      <NewPassword label={isNew ? 'Password' : 'New password'} />
      {/* By which password managers know whose password it is. */}
      <input type="email" autocomplete="username" value={email} readOnly hidden />
    </Form>
  )
}

type Options = Schemas['SignInOptions']

/** What is done with a link: a password is chosen or, where it makes an account, an identity provider. */
function Ways({ link, value, options }: { link: Schemas['Link']; value: string; options: Options | null }) {
  const { passwords, providers } = options ?? { passwords: true, providers: [] }
  const isNew = link.kind !== 'password'
  return (
    <>
      {passwords ? (
        <Choice link={link} value={value} />
      ) : (
        <p class="break">
          {isNew ? `Your account will have the e-mail ${link.email}.` : 'Nobody signs in by password here.'}
        </p>
      )}
      {isNew && <ProviderButtons providers={providers} token={value} isBeside={passwords} />}
    </>
  )
}

function Opened({ value }: { value: string }) {
  const link = useData((signal) => turnpike.post('/api/auth/link', { body: { token: value }, signal }), [value])
  const options = useOptions()
  const kind = options === undefined ? undefined : link.value?.kind
  return (
    // Its first field gets the focus once it is there.
    <Entrance key={kind} name="Turnpike" error={undefined}>
      <Page title={kind ? titles[kind] : 'Link'}>
        <Loaded data={link}>
          {(read) => options !== undefined && <Ways link={read} value={value} options={options} />}
        </Loaded>
        <p class="small">
          <a href={linkTo('/')}>To the sign-in</a>
        </p>
      </Page>
    </Entrance>
  )
}

/** What a link of a message leads to, whoever is signed in. */
export const UseLink = () => <Opened key={token.value} value={token.value} />
