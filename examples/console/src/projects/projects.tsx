import { Empty, Page } from '@turnpike/ui'

/** The projects of the user; `/projects/{id}` is one of them. */
export const Projects = () => (
  <Page title="Projects">
    <section class="panel">
      <Empty title="Projects come here" />
    </section>
  </Page>
)
