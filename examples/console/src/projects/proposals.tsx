import { ActionButton, Dialog, ErrorNotice, useAction, visible } from '@turnpike/ui'
import { Markdown } from '@turnpike/ui/markdown'
import { useEffect, useRef, useState } from 'preact/hooks'
import { turnpike } from '../turnpike.js'
import { ModelForm } from './model-form.js'
import type { Proposal } from './propose-tasks.js'
import { proposeTasks } from './propose-tasks.js'
import { Avatar } from './task-avatar.js'
import { taskIn } from './task-waiting.js'
import type { Agent, Task } from './tasks.js'

/** For a link in place of the button that had the focus. */
const focus = (link: HTMLAnchorElement | null): void => link?.focus()

/** A task that is proposed, and made by a click. */
function Proposed({
  proposal: { title, description, agent },
  make,
}: {
  proposal: Proposal
  make: () => Promise<Task>
}) {
  const [task, setTask] = useState<Task>()
  const making = useAction(async () => setTask(await make()))
  return (
    <li>
      <div class="spread">
        <h3 class="break">{visible(title)}</h3>
        {task ? (
          <a ref={focus} href={taskIn(task)}>
            On the board
          </a>
        ) : (
          <ActionButton action={making} onClick={making.run}>
            {making.busy ? 'Creating…' : 'Create task'}
          </ActionButton>
        )}
      </div>
      <Markdown text={description} showsAll hasTools={false} />
      <span class="row small muted">
        <Avatar name={agent} />
        {agent}
      </span>
      <ErrorNotice error={making.error} />
    </li>
  )
}

/** Has a model propose tasks from the conversation of a project, of which the user makes those that are wanted. */
export function Proposals({
  projectId,
  agents,
  onClose,
}: {
  projectId: string
  agents: readonly Agent[]
  onClose: () => void
}) {
  const [proposals, setProposals] = useState<readonly Proposal[]>([])
  const [said, setSaid] = useState('')
  const leave = useRef(new AbortController())
  useEffect(() => () => leave.current.abort(), [])

  const propose = async (model: string): Promise<void> => {
    setProposals([])
    setSaid('')
    const { signal } = leave.current
    const onProposal = (proposal: Proposal): void => setProposals((all) => [...all, proposal])
    setSaid(await proposeTasks({ projectId, agents, model, signal, onProposal }))
  }
  const make = ({ title, description, agent }: Proposal): Promise<Task> => {
    const assignedAgentId = agents.find(({ name }) => name === agent)!.id
    return turnpike.post('/api/tasks', {
      body: { projectId, title, description, assignedAgentId, requiresUserApproval: true },
    })
  }
  return (
    <Dialog title="Propose tasks" form="drawer wide" onClose={onClose}>
      <ModelForm
        label="Propose"
        hint="It reads the last 100 messages, without their files, and makes no task itself."
        run={propose}
      />
      {proposals.length > 0 && (
        <ul class="panel results" aria-label="Proposed tasks">
          {proposals.map((proposal, i) => (
            <Proposed key={i} proposal={proposal} make={() => make(proposal)} />
          ))}
        </ul>
      )}
      <div role="status">{said !== '' && <Markdown text={said} hasTools={false} />}</div>
    </Dialog>
  )
}
