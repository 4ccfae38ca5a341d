import type { Schemas } from '@turnpike/client'
import { Empty, linkTo, route, time, visible } from '@turnpike/ui'
import { Markdown } from '@turnpike/ui/markdown'
import { turnpike } from '../turnpike.js'
import { PagedList, useAgain, usePages } from '../use-pages.js'
import type { Changed } from './tasks.js'

/** Characters of an output that the list shows. */
const PREVIEW = 600

const Result = ({ result: { task_id, title, output, created_at } }: { result: Schemas['Result'] }) => (
  <li>
    <div class="spread">
      <h3>
        <a class="break" href={linkTo(route.value.path, { task: task_id })}>
          {visible(title)}
        </a>
      </h3>
      <time class="small muted number" dateTime={created_at}>
        {time(created_at)}
      </time>
    </div>
    <div class="glimpse">
      <Markdown text={output.slice(0, PREVIEW)} hasTools={false} />
    </div>
  </li>
)

/** What the agents of a project made: the tasks that have an output. @param changed reads them again when it changes */
export function Results({ projectId, changed }: { projectId: string; changed: Changed }) {
  const pages = usePages((page, signal) => turnpike.list('/api/results', { query: { projectId, ...page }, signal }))
  useAgain(pages, changed)
  return (
    <section class="panel" aria-label="Results">
      <PagedList
        pages={pages}
        name="result"
        empty={
          <Empty title="No results yet">
            <p>
              A task has a result once it has an output, such as a draft that you approve on the{' '}
              <a href={linkTo(`/projects/${projectId}`)}>board</a>.
            </p>
          </Empty>
        }
      >
        {(results) => (
          <ul class="results">
            {results.map((result) => (
              <Result key={result.id} result={result} />
            ))}
          </ul>
        )}
      </PagedList>
    </section>
  )
}
