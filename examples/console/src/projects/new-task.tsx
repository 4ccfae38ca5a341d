import { Check, Dialog, Field, Form, textOf, useAction } from '@turnpike/ui'
import { useState } from 'preact/hooks'
import { turnpike } from '../turnpike.js'
import type { Agent, Task } from './tasks.js'

/** Makes a task. @param onMade called with it */
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
  const make = useAction(async (fields: FormData) => {
    const description = textOf(fields, 'description')
    const agent = textOf(fields, 'agent')
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
      <Form action={make} label="Make task">
        <Field label="Title">{(ids) => <input {...ids} name="title" maxLength={1000} required autofocus />}</Field>
        <Field label="Description" hint="What is to be done, and what a good result has.">
          {(ids) => <textarea {...ids} name="description" rows={6} />}
        </Field>
        <Field label="Agent">
          {(ids) => (
            <select {...ids} name="agent">
              <option value="">Nobody</option>
              {agents.map(({ id, name, role }) => (
                <option key={id} value={id}>
                  {name}: {role}
                </option>
              ))}
            </select>
          )}
        </Field>
        <Check label="It needs your approval" checked={requiresUserApproval} onChange={setApproval} />
      </Form>
    </Dialog>
  )
}
