import '@turnpike/dashboard/page.css'
import '@turnpike/ui/styles.css'
import './page.css'
import { adminPages } from '@turnpike/dashboard/page'
import type { Entry } from '@turnpike/ui'
import {
  ActionButton,
  Empty,
  entryAt,
  ErrorNotice,
  goTo,
  icons,
  lazy,
  linkTo,
  Page,
  route,
  Shell,
  useAction,
} from '@turnpike/ui'
import { render } from 'preact'
import { useEffect } from 'preact/hooks'
import { Account } from './account.js'
import { Files } from './files/files.js'
import { Keys } from './keys/keys.js'
import { Projects } from './projects/projects.js'
import { SignIn } from './sign-in.js'
import type { User } from './turnpike.js'
import { account, readAccount, signOut } from './turnpike.js'
import { Usage } from './usage/usage.js'

/** A page and who has it. The platform refuses the others in any case. */
interface OwnEntry extends Entry {
  /** Default everybody. */
  roles?: readonly User['role'][]
}

const entries: readonly OwnEntry[] = [
  { path: '/projects', name: 'Projects', icon: icons.Projects, page: Projects },
  { path: '/files', name: 'Files', icon: icons.Files, page: Files },
  { path: '/usage', name: 'Usage', icon: icons.Usage, page: Usage },
  { path: '/keys', name: 'Keys', icon: icons.Keys, page: Keys, roles: ['developer', 'admin'] },
  { path: '/account', name: 'Account', icon: icons.Account, page: Account },
  ...[
    ...adminPages,
    {
      path: '/admin/users',
      name: 'Users',
      icon: icons.Users,
      page: lazy(async () => (await import('./users/users.js')).Users),
    },
  ].map((page): OwnEntry => ({ ...page, section: 'Administration', roles: ['admin'] })),
]

const NotFound = () => (
  <Page title="Not found">
    <section class="panel">
      <Empty title="There is no such page">
        <p>
          Your work is in <a href={linkTo('/projects')}>Projects</a>.
        </p>
      </Empty>
    </section>
  </Page>
)

/** Says who has a page that the user has not. */
const Refused = ({ entry: { name, roles } }: { entry: OwnEntry }) => (
  <Page title={name}>
    <section class="panel">
      {roles!.includes('developer') ? (
        <Empty title="This page is for developers and administrators">
          <p>
            <a href={linkTo('/account')}>Account</a> says how you become one.
          </p>
        </Empty>
      ) : (
        <Empty title="This page is for administrators" />
      )}
    </section>
  </Page>
)

function SignedIn({ user }: { user: User }) {
  const signingOut = useAction(signOut)
  const { path } = route.value
  useEffect(() => {
    if (path === '/') goTo('/projects', {}, true)
  }, [path])
  const pages = entries.filter(({ roles }) => !roles || roles.includes(user.role))
  const entry = entryAt(entries, path)
  return (
    <Shell
      name="Turnpike"
      pages={pages}
      footer={
        <>
          <a class="button quiet" href="./docs">
            API
          </a>
          <span class="who muted small break">{user.email}</span>
          <ActionButton action={signingOut} class="quiet" onClick={signingOut.run}>
            {signingOut.busy ? 'Signing out…' : 'Sign out'}
          </ActionButton>
        </>
      }
    >
      <ErrorNotice error={signingOut.error} again={signingOut.run} />
      {path !== '/' && (!entry ? <NotFound /> : pages.includes(entry) ? <entry.page /> : <Refused entry={entry} />)}
    </Shell>
  )
}

function App() {
  const { run, error } = useAction(readAccount)
  useEffect(run, [])
  if (account.value) return <SignedIn key={account.value.id} user={account.value} />
  if (account.value === null) return <SignIn />
  return (
    <main class="centre">
      <ErrorNotice error={error} again={run} />
    </main>
  )
}

render(<App />, document.body)
