import { Empty, Page } from '@turnpike/ui'

export const Files = () => (
  <Page title="Files">
    <section class="panel">
      <Empty title="Files come here" />
    </section>
  </Page>
)
