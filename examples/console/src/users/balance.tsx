import type { Schemas } from '@turnpike/client'
import { count, Facts, Field, Form, Loaded, Segmented, textOf, useAction, useData } from '@turnpike/ui'
import { useState } from 'preact/hooks'
import { credits, tokensOf } from '../units.js'
import { turnpike } from '../turnpike.js'

type Amounts = Schemas['BalancePatch']

/** Each part: its field, its name, and what there is of it. */
const parts: readonly (readonly [keyof Amounts, string, (balance: Schemas['UserBalance']) => number])[] = [
  ['creditCoins', 'Credits', (one) => one.credit_coins],
  ['storageGb', 'Extra GB', (one) => one.storage_gb],
  ['extraProjects', 'Extra projects', (one) => one.extra_projects],
  ['extraAgents', 'Extra agents', (one) => one.extra_agents],
]

/** The balance of a user, with a form that adds to it or sets it. */
export function Balance({ userId, isDeleted }: { userId: string; isDeleted: boolean }) {
  const params = { id: userId }
  const [by, setBy] = useState<'add' | 'set'>('add')
  // Empties the fields, so that nothing is added twice by accident.
  const [round, setRound] = useState(0)
  const data = useData((signal) => turnpike.get('/api/users/{id}/balance', { params, signal }), [userId])
  const change = useAction(async (fields: FormData) => {
    const body: Amounts = {}
    for (const [part] of parts) if (textOf(fields, part) !== '') body[part] = Number(textOf(fields, part))
    if (Object.keys(body).length === 0) throw new Error('Fill in what is to change.')
    await (by === 'add'
      ? turnpike.post('/api/users/{id}/balance', { params, body })
      : turnpike.patch('/api/users/{id}/balance', { params, body }))
    data.again()
    setRound((count) => count + 1)
  })
  return (
    <div class="stack">
      <h3>Balance</h3>
      <Loaded data={data}>
        {(balance) => (
          <Facts
            facts={parts.map(([part, name, of]) => [
              name,
              part === 'creditCoins' ? `${credits(of(balance))} = ${tokensOf(of(balance))}` : count(of(balance)),
            ])}
          />
        )}
      </Loaded>
      {!isDeleted && (
        <Form action={change} label={by === 'add' ? 'Add' : 'Set'} done="The balance is changed.">
          <Segmented
            label="What to do"
            options={[
              ['add', 'Add'],
              ['set', 'Set'],
            ]}
            value={by}
            onChange={setBy}
          />
          <p class="muted small">
            {by === 'add' ? 'What is added; less than 0 takes off.' : 'The new values.'} Empty fields stay as they are.
          </p>
          <div key={round} class="numbers">
            {parts.map(([part, name]) => (
              <Field key={part} label={name}>
                {(ids) => <input {...ids} name={part} type="number" step={1} />}
              </Field>
            ))}
          </div>
        </Form>
      )}
    </div>
  )
}
