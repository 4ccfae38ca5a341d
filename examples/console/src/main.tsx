import '@turnpike/ui/styles.css'
import './page.css'
import './playground/playground.css'
import { ActionButton, Empty, ErrorNotice, goTo, icons, linkTo, Page, route, Shell, useAction } from '@turnpike/ui'
import type { ComponentType } from 'preact'
import { render } from 'preact'
import { useEffect } from 'preact/hooks'
import { Account } from './account.js'
import './kept.js'
import { Files } from './files/files.js'
import { Keys } from './keys/keys.js'
import { onDemand } from './on-demand.js'
import { Projects } from './projects/projects.js'
import { SignIn } from './sign-in.js'
import type { User } from './turnpike.js'
import { account, readAccount, signOut } from './turnpike.js'
import { Usage } from './usage.js'
import { Users } from './users/users.js'

/** A page by the first part of its path; what follows that is the page's own. */
interface Entry {
  path: string
  name: string
  icon: (typeof icons)['Keys']
  page: ComponentType
  /** Who has it; default everybody. The platform refuses the others in any case. */
  roles?: readonly User['role'][]
}

const entries: readonly Entry[] = [
  { path: '/projects', name: 'Projects', icon: icons.Projects, page: Projects },
  {
    path: '/playground',
    name: 'Playground',
    icon: icons.Playground,
    page: onDemand(async () => (await import('./playground/playground.js')).Playground),
  },
  { path: '/files', name: 'Files', icon: icons.Files, page: Files },
  { path: '/usage', name: 'Usage', icon: icons.Usage, page: Usage },
  { path: '/keys', name: 'Keys', icon: icons.Keys, page: Keys, roles: ['developer', 'admin'] },
  { path: '/users', name: 'Users', icon: icons.Users, page: Users, roles: ['admin'] },
  { path: '/account', name: 'Account', icon: icons.Account, page: Account },
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
const Refused = ({ entry: { name, roles } }: { entry: Entry }) => (
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
  const path = `/${route.value.path.split('/')[1]}`
  useEffect(() => {
    if (path === '/') goTo('/projects', {}, true)
  }, [path])
  const pages = entries.filter(({ roles }) => !roles || roles.includes(user.role))
  const entry = entries.find((one) => one.path === path)
  return (
    <Shell
      name="Turnpike"
      pages={pages}
      footer={
        <>
          <div class="row">
            {user.role === 'admin' && (
              <a class="button quiet" href="./admin">
                Dashboard
              </a>
            )}
            <a class="button quiet" href="./docs">
              API
            </a>
          </div>
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
