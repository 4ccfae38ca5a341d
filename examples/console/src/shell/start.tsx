import { Bar, Icon, icons, Loaded, Page, useData } from '@turnpike/ui'
import { useEffect, useRef } from 'preact/hooks'
import { account } from '../turnpike.js'
import { putAway } from './put-away.js'
import type { Step } from './steps.js'
import { readSteps } from './steps.js'

const StepRow = ({ name, why, link, isDone }: Step) => (
  <li class={isDone ? 'done' : ''}>
    <Icon icon={isDone ? icons.Good : icons.Off} size={20} />
    <div>
      {isDone ? <span>{name}</span> : <a href={link}>{name}</a>}
      <p class="small muted">{isDone ? 'Done' : why}</p>
    </div>
  </li>
)

function Steps({ steps }: { steps: readonly Step[] }) {
  const done = steps.filter(({ isDone }) => isDone).length
  const isComplete = done === steps.length
  const wasComplete = useRef(isComplete)
  useEffect(() => {
    // Somebody who works here already needs no list of first steps.
    if (wasComplete.current) putAway()
  }, [])
  return (
    <section class="panel first-steps" aria-label="First steps">
      <div class="body stack">
        <p class="number">{isComplete ? 'All done.' : `${done} of ${steps.length} done`}</p>
        <Bar share={done / steps.length} />
      </div>
      <ol class="steps">
        {steps.map((step) => (
          <StepRow key={step.name} {...step} />
        ))}
      </ol>
    </section>
  )
}

/** What is worth doing first, until all is done or it is put away. */
export function Start() {
  const steps = useData((signal) => readSteps(account.value!, signal), [], 10_000)
  return (
    <Page
      title="Get started"
      actions={
        <button type="button" onClick={putAway}>
          Put away
        </button>
      }
    >
      <Loaded data={steps}>{(steps) => <Steps steps={steps} />}</Loaded>
    </Page>
  )
}
