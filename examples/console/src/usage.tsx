import { Empty, Page } from '@turnpike/ui'

export const Usage = () => (
  <Page title="Usage">
    <section class="panel">
      <Empty title="Usage come here" />
    </section>
  </Page>
)
