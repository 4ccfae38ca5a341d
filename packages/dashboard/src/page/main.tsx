import '@turnpike/ui/styles.css'
import './page.css'
import {
  ActionButton,
  entryAt,
  ErrorNotice,
  goTo,
  Icon,
  icons,
  ignoreKeysForOthers,
  route,
  Shell,
  showShortcuts,
  ThemeButton,
  useAction,
} from '@turnpike/ui'
import { render } from 'preact'
import { useEffect } from 'preact/hooks'
import { refused, restoreToken, signOut } from './api.js'
import { adminPages } from './pages.js'
import { SignIn } from './sign-in.js'

function App() {
  const leave = useAction(signOut)
  const { path } = route.value
  const [first] = adminPages
  useEffect(() => {
    if (!entryAt(adminPages, path)) goTo(first!.path, {}, true)
  }, [path])
  if (refused.value !== undefined) return <SignIn />
  const { page: Current } = entryAt(adminPages, path) ?? first!
  return (
    <Shell
      name="Turnpike"
      pages={adminPages}
      footer={
        <>
          <ErrorNotice error={leave.error} />
          <ActionButton action={leave} onClick={leave.run} class="quiet">
            Sign out
          </ActionButton>
          <button type="button" class="quiet" onClick={showShortcuts}>
            <Icon icon={icons.Shortcuts} />
            Keyboard shortcuts
          </button>
          <ThemeButton />
        </>
      }
    >
      <Current />
    </Shell>
  )
}

ignoreKeysForOthers()
restoreToken()
render(<App />, document.body)
