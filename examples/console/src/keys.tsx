import { Empty, Page } from '@turnpike/ui'

export const Keys = () => (
  <Page title="Keys">
    <section class="panel">
      <Empty title="Keys come here" />
    </section>
  </Page>
)
