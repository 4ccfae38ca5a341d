import type { Entry } from '@turnpike/ui'
import { icons, lazy } from '@turnpike/ui'

/** The pages of administrators, which are in the console too. Each is loaded when it is first shown. */
export const adminPages: readonly Entry[] = [
  {
    path: '/admin',
    keys: 'g a o',
    name: 'Overview',
    icon: icons.Overview,
    page: lazy(async () => (await import('./overview.js')).Overview),
  },
  {
    path: '/admin/requests',
    keys: 'g a r',
    name: 'Requests',
    icon: icons.Requests,
    page: lazy(async () => (await import('./requests.js')).Requests),
  },
  {
    path: '/admin/usage',
    keys: 'g a u',
    name: 'Usage',
    icon: icons.Usage,
    page: lazy(async () => (await import('./usage.js')).Usage),
  },
  {
    path: '/admin/providers',
    keys: 'g a p',
    name: 'Providers',
    icon: icons.Providers,
    page: lazy(async () => (await import('./providers.js')).Providers),
  },
  {
    path: '/admin/routing',
    keys: 'g a t',
    name: 'Routing',
    icon: icons.Routing,
    page: lazy(async () => (await import('./routing.js')).Routing),
  },
  {
    path: '/admin/groups',
    keys: 'g a g',
    name: 'Groups',
    icon: icons.Groups,
    page: lazy(async () => (await import('./groups.js')).Groups),
  },
  {
    path: '/admin/pricing',
    keys: 'g a c',
    name: 'Pricing',
    icon: icons.Prices,
    page: lazy(async () => (await import('./pricing.js')).Pricing),
  },
  {
    path: '/admin/keys',
    keys: 'g a k',
    name: 'Keys',
    icon: icons.Keys,
    page: lazy(async () => (await import('./keys.js')).Keys),
  },
  {
    path: '/admin/audit',
    keys: 'g a l',
    name: 'Audit log',
    icon: icons.Audit,
    page: lazy(async () => (await import('./audit.js')).Audit),
  },
  {
    path: '/admin/server',
    keys: 'g a s',
    name: 'Server',
    icon: icons.Server,
    page: lazy(async () => (await import('./server.js')).Server),
  },
]
