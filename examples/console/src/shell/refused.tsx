import { Empty, linkTo, Page } from '@turnpike/ui'
import type { User } from '../turnpike.js'

const BackToWork = () => (
  <p>
    Your work is in <a href={linkTo('/projects')}>Projects</a>.
  </p>
)

export const NotFound = () => (
  <Page title="Not found">
    <section class="panel">
      <Empty title="There is no such page">
        <BackToWork />
      </Empty>
    </section>
  </Page>
)

/** Says who has a page that the user has not. */
export const Refused = ({ name, roles, user }: { name: string; roles: readonly User['role'][]; user: User }) => (
  <Page title={name}>
    <section class="panel">
      {roles.includes('developer') ? (
        <Empty title="This page is for developers and administrators">
          <p>
            <a href={linkTo('/account')}>Account</a> says how you become one.
          </p>
        </Empty>
      ) : (
        <Empty title="This page is for administrators">
          <p class="break">You are signed in as {user.email}, who is no administrator.</p>
          <BackToWork />
        </Empty>
      )}
    </section>
  </Page>
)
