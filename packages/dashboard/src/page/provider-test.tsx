import { ActionButton, duration, ErrorNotice, Status, useAction } from '@turnpike/ui'
import { useState } from 'preact/hooks'
import type { Probe } from './answers.js'
import { send } from './api.js'

/** What a failure means, and where to look. */
const failures: Record<string, string> = {
  credential: 'The key was refused. Check that it is the right one, and that it is not restricted.',
  unavailable: 'Nothing answers at the address. Check it, and that this server may reach it.',
  timeout: 'It took longer than ten seconds. Check the address, or try again.',
  rate_limited: 'It can be reached, but takes no more requests at the moment.',
  malformed: 'Something answers at the address, but not in the form of this API. Check the address.',
  refused: 'It refuses the question. Check the address and the account.',
  status: 'It answers with an error. Check the address, or try again.',
}

/** The statuses of an upstream without a list of models: the key may not have been checked. */
const NO_LIST = [404, 405]

/** What came of a test, in words. */
function TestResult({ ok, duration_ms, failure, status }: Probe) {
  const time = duration(duration_ms)
  const code = status === null ? '' : `, status ${status}`
  if (!ok) return <Status tone="bad">{`${failures[failure ?? ''] ?? 'It did not work.'} After ${time}${code}.`}</Status>
  if (status !== null && NO_LIST.includes(status))
    return (
      <Status tone="warn">
        {`It answers in ${time}, but has no list of models${code}. Send it a request to be sure of the key.`}
      </Status>
    )
  return <Status tone="good">{`It works: answered in ${time}.`}</Status>
}

/** Asks a provider for its list of models, which costs nothing. @param ask sends the question */
export function useTest(ask: (form?: FormData) => Promise<Probe>) {
  const [result, setResult] = useState<Probe>()
  const action = useAction(async (form?: FormData) => {
    setResult(undefined)
    setResult(await ask(form))
  })
  const said = (
    <div class="test-result small" role="status">
      {action.busy ? 'Testing…' : result && <TestResult {...result} />}
    </div>
  )
  return { action, said }
}

/** Sends the question of a test. @param path what is asked, such as `groq/`; '' = the settings in the body */
export async function probe(path: string, body?: unknown): Promise<Probe> {
  const response = await send(`admin/providers/${path}probe`, { method: 'POST', body })
  return (await response.json()) as Probe
}

/** Tests a provider as it is configured. @param name what it is called, for screen readers @param onDone called once it is known */
export function TestProvider({ id, name, onDone }: { id: string; name: string; onDone: () => void }) {
  const { action, said } = useTest(async () => {
    const result = await probe(`${encodeURIComponent(id)}/`)
    onDone()
    return result
  })
  return (
    <div class="test">
      <ActionButton action={action} onClick={() => action.run()}>
        Test<span class="visually-hidden"> {name}</span>
      </ActionButton>
      {said}
      <ErrorNotice error={action.error} />
    </div>
  )
}
