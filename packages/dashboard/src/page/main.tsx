import 'uplot/dist/uPlot.min.css'
import '@turnpike/ui/styles.css'
import './page.css'
import { ActionButton, ErrorNotice, icons, route, Shell, useAction } from '@turnpike/ui'
import type { ComponentType } from 'preact'
import { render } from 'preact'
import { refused, signOut } from './api.js'
import { Keys } from './keys.js'
import { Overview } from './overview.js'
import { Pricing } from './pricing.js'
import { Providers } from './providers.js'
import { Requests } from './requests.js'
import { Routing } from './routing.js'
import { SignIn } from './sign-in.js'
import { Usage } from './usage.js'

const pages: { path: string; name: string; icon: (typeof icons)['Keys']; page: ComponentType }[] = [
  { path: '/', name: 'Overview', icon: icons.Overview, page: Overview },
  { path: '/requests', name: 'Requests', icon: icons.Requests, page: Requests },
  { path: '/usage', name: 'Usage', icon: icons.Usage, page: Usage },
  { path: '/providers', name: 'Providers', icon: icons.Providers, page: Providers },
  { path: '/routing', name: 'Routing', icon: icons.Routing, page: Routing },
  { path: '/pricing', name: 'Pricing', icon: icons.Prices, page: Pricing },
  { path: '/keys', name: 'Keys', icon: icons.Keys, page: Keys },
]

function App() {
  const leave = useAction(signOut)
  if (refused.value !== undefined) return <SignIn />
  const path = `/${route.value.path.split('/')[1]}`
  const { page: Current } = pages.find((one) => one.path === path) ?? pages[0]!
  return (
    <Shell
      name="Turnpike"
      pages={pages}
      footer={
        <>
          <ErrorNotice error={leave.error} />
          <ActionButton action={leave} onClick={leave.run} class="quiet">
            Sign out
          </ActionButton>
        </>
      }
    >
      <Current />
    </Shell>
  )
}

render(<App />, document.body)
