import { Empty, Page } from '@turnpike/ui'

export const Account = () => (
  <Page title="Account">
    <section class="panel">
      <Empty title="Account come here" />
    </section>
  </Page>
)
