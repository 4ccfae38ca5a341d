import { Check, Dialog, Field, Form, textOf, useAction } from '@turnpike/ui'
import { useState } from 'preact/hooks'
import { turnpike } from '../turnpike.js'
import type { Agent, Task } from './tasks.js'

/** Makes a task. The first agent of the team works on it, unless another is chosen. @param onMade called with it */
export function NewTask({
  projectId,
  agents,
  onMade,
  onClose,
}: {
  projectId: string
  agents: readonly Agent[]
  onMade: (task: Task) => void
  onClose: () => void
}) {
  const [requiresUserApproval, setApproval] = useState(true)
  const [agent, setAgent] = useState(String(agents[0]?.id ?? ''))
  const make = useAction(async (fields: FormData) => {
    const description = textOf(fields, 'description')
    const body = {
      projectId,
      title: textOf(fields, 'title'),
      requiresUserApproval,
      ...(description !== '' && { description }),
      ...(agent !== '' && { assignedAgentId: Number(agent) }),
    }
    onMade(await turnpike.post('/api/tasks', { body }))
    onClose()
  })
  return (
    <Dialog title="New task" onClose={onClose}>
      <Form action={make} label="Create task">
        <Field label="Title">{(ids) => <input {...ids} name="title" maxLength={1000} required autofocus />}</Field>
        <Field label="Description" hint="What is to be done, and what a good result has.">
          {(ids) => <textarea {...ids} name="description" rows={6} />}
        </Field>
        <Field label="Agent" hint={agent === '' ? 'Nobody starts it. You can write its draft yourself.' : undefined}>
          {(ids) => (
            <select {...ids} value={agent} onChange={(event) => setAgent(event.currentTarget.value)}>
              {agents.map(({ id, name, role }) => (
                <option key={id} value={id}>
                  {name}: {role}
                </option>
              ))}
              <option value="">Nobody</option>
            </select>
          )}
        </Field>
        <Check label="It needs your approval" checked={requiresUserApproval} onChange={setApproval} />
      </Form>
    </Dialog>
  )
}
