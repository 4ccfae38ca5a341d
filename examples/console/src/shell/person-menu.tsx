import type { Action } from '@turnpike/ui'
import { Icon, icons, linkTo, Menu, nextTheme, showShortcuts, theme, themeIcons, themeNames } from '@turnpike/ui'
import type { User } from '../turnpike.js'

const initialsOf = ({ first_name, last_name, email }: User): string =>
  ([first_name[0], last_name[0]].join('') || email.slice(0, 1)).toUpperCase()

/** Who is signed in, with what is theirs. */
export const PersonMenu = ({ user, signingOut }: { user: User; signingOut: Action<[]> }) => (
  <Menu
    class="side-button quiet"
    name={signingOut.busy ? 'Signing out…' : `You: ${user.email}`}
    busy={signingOut.busy}
    label={
      <>
        <i class="initials" data-initials={initialsOf(user)} aria-hidden="true" />
        <span>{signingOut.busy ? 'Signing out…' : user.email}</span>
      </>
    }
    options={[
      [
        'account',
        <>
          <Icon icon={icons.Account} />
          Account
        </>,
        linkTo('/account'),
      ],
      [
        'theme',
        <>
          <Icon icon={themeIcons[theme.value]} />
          {themeNames[theme.value]}
        </>,
      ],
      [
        'shortcuts',
        <>
          <Icon icon={icons.Shortcuts} />
          Keyboard shortcuts
        </>,
      ],
      [
        'api',
        <>
          <Icon icon={icons.Docs} />
          API
        </>,
        './docs',
      ],
      [
        'sign out',
        <>
          <Icon icon={icons.SignOut} />
          Sign out
        </>,
      ],
    ]}
    onChoose={(option) => {
      if (option === 'theme') theme.value = nextTheme[theme.value]
      if (option === 'shortcuts') showShortcuts()
      if (option === 'sign out') signingOut.run()
    }}
  />
)
