import { Empty, Page } from '@turnpike/ui'

export const Users = () => (
  <Page title="Users">
    <section class="panel">
      <Empty title="Users come here" />
    </section>
  </Page>
)
