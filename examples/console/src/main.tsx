import '@turnpike/dashboard/page.css'
import '@turnpike/ui/styles.css'
import './page.css'
import { adminPages } from '@turnpike/dashboard/page'
import type { Entry } from '@turnpike/ui'
import { entryAt, ErrorNotice, goTo, icons, ignoreKeysForOthers, lazy, route, Shell, useAction } from '@turnpike/ui'
import type { ComponentType } from 'preact'
import { render } from 'preact'
import { useEffect } from 'preact/hooks'
import { Forgotten, SignUp } from './entrance/ask-for-link.js'
import { SignIn } from './entrance/sign-in.js'
import { UseLink } from './entrance/use-link.js'
import './kept.js'
import { PersonMenu } from './shell/person-menu.js'
import { ProjectSwitcher } from './shell/project-switcher.js'
import { NotFound, Refused } from './shell/refused.js'
import { Search, SearchButton, SearchIcon } from './shell/search.js'
import { isPutAway } from './shell/put-away.js'
import type { User } from './turnpike.js'
import { account, readAccount, signOut } from './turnpike.js'

/** A page and who has it. The platform refuses the others in any case. */
interface OwnEntry extends Entry {
  /** Default everybody. */
  roles?: readonly User['role'][]
}

/** Each page is loaded when it is first shown. */
const entries: readonly OwnEntry[] = [
  {
    path: '/start',
    name: 'Get started',
    icon: icons.Start,
    page: lazy(async () => (await import('./shell/start.js')).Start),
    keys: 'g s',
  },
  {
    path: '/projects',
    name: 'Projects',
    icon: icons.Projects,
    page: lazy(async () => (await import('./projects/projects.js')).Projects),
    keys: 'g p',
  },
  {
    path: '/playground',
    name: 'Playground',
    icon: icons.Playground,
    page: lazy(async () => (await import('./playground/playground.js')).Playground),
    keys: 'g y',
  },
  {
    path: '/files',
    name: 'Files',
    icon: icons.Files,
    page: lazy(async () => (await import('./files/files.js')).Files),
    keys: 'g f',
  },
  {
    path: '/usage',
    name: 'My usage',
    icon: icons.Usage,
    page: lazy(async () => (await import('./usage/usage.js')).Usage),
    keys: 'g u',
  },
  {
    path: '/keys',
    name: 'My keys',
    icon: icons.Keys,
    page: lazy(async () => (await import('./keys/keys.js')).Keys),
    keys: 'g k',
    roles: ['developer', 'admin'],
  },
  {
    path: '/account',
    name: 'Account',
    icon: icons.Account,
    page: lazy(async () => (await import('./account/account.js')).Account),
    keys: 'g m',
    unlisted: true,
  },
  ...[
    ...adminPages,
    {
      path: '/admin/users',
      keys: 'g a m',
      name: 'Users',
      icon: icons.Users,
      page: lazy(async () => (await import('./users/users.js')).Users),
    },
  ].map((page): OwnEntry => ({ ...page, section: 'Administration', roles: ['admin'] })),
]

/** Whether a page is in the navigation: what is to be done first is until it is put away. */
const isListed = ({ path }: Entry): boolean => path !== '/start' || !isPutAway.value

function SignedIn({ user }: { user: User }) {
  const signingOut = useAction(signOut)
  const { path } = route.value
  useEffect(() => {
    if (path === '/') goTo(isPutAway.value ? '/projects' : '/start', {}, true)
  }, [path])
  const allowed = entries.filter(({ roles }) => !roles || roles.includes(user.role))
  const pages = allowed.filter(isListed)
  const entry = entryAt(entries, path)
  return (
    <Shell
      name="Turnpike"
      pages={pages}
      head={
        <>
          <SearchButton />
          <ProjectSwitcher />
        </>
      }
      search={<SearchIcon />}
      footer={<PersonMenu user={user} signingOut={signingOut} />}
    >
      <ErrorNotice error={signingOut.error} again={signingOut.run} />
      {path !== '/' &&
        (!entry ? (
          <NotFound />
        ) : allowed.includes(entry) ? (
          <entry.page />
        ) : (
          <Refused {...entry} roles={entry.roles!} user={user} />
        ))}
      <Search user={user} pages={pages} />
    </Shell>
  )
}

/** The pages of whoever is not signed in. */
const outside: Record<string, ComponentType> = { '/forgotten': Forgotten, '/sign-up': SignUp }

function App() {
  const { run, error } = useAction(readAccount)
  useEffect(run, [])
  const { path } = route.value
  if (path === '/link') return <UseLink />
  if (account.value) return <SignedIn key={account.value.id} user={account.value} />
  if (account.value === null) {
    const Outside = outside[path] ?? SignIn
    return <Outside />
  }
  return (
    <main class="centre">
      <ErrorNotice error={error} again={run} />
    </main>
  )
}

ignoreKeysForOthers()
render(<App />, document.body)
