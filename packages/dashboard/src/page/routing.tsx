import type { Column } from '@turnpike/ui'
import {
  ActionButton,
  Check,
  Dialog,
  Empty,
  ErrorNotice,
  Field,
  Loaded,
  modelToTry,
  Page,
  Panel,
  route,
  setQuery,
  Table,
  time,
  useAction,
  useData,
  RowLink,
} from '@turnpike/ui'
import { useState } from 'preact/hooks'
import type { BalancerAnswer, Choice, PricingAnswer, ProvidersAnswer, Simulated } from './answers.js'
import { answeredBy, Candidates, ChoiceFacts } from './choices.js'
import { read, send } from './api.js'

/** The smallest picture, for requests with one. */
const PICTURE = 'data:image/gif;base64,R0lGODlhAQABAAAAACwAAAAAAQABAAA='
/** A token, as the gateway estimates. */
const TOKEN = 'word'

interface Asked {
  /** Undefined until one is chosen. */
  model: string | undefined
  provider: string
  promptTokens: number
  maxTokens: number
  tools: boolean
  picture: boolean
}

/** A chat completion request as described in the form. */
const requestOf = (model: string, { provider, promptTokens, maxTokens, tools, picture }: Asked) => {
  const text = TOKEN.repeat(promptTokens)
  const parts = [
    { type: 'text', text },
    { type: 'image_url', image_url: { url: PICTURE } },
  ]
  return {
    model,
    ...(provider && { provider }),
    max_tokens: maxTokens,
    messages: [{ role: 'user', content: picture ? parts : text }],
    ...(tools && {
      tools: [{ type: 'function', function: { name: 'find', parameters: { type: 'object', properties: {} } } }],
    }),
  }
}

function Simulate({ groups, providers }: { groups: string[]; providers: string[] }) {
  const [asked, setAsked] = useState<Asked>({
    model: route.value.query.get('model') ?? groups[0],
    provider: 'auto',
    promptTokens: 1000,
    maxTokens: 500,
    tools: false,
    picture: false,
  })
  const pricing = useData((signal) => read<PricingAnswer>('pricing', signal), [])
  const models = [...new Set(pricing.value?.models.map(({ id }) => id))]
  const model = asked.model ?? modelToTry(models)
  const [result, setResult] = useState<Simulated>()
  const set = (fields: Partial<Asked>): void => setAsked({ ...asked, ...fields })
  const simulate = useAction(async () => {
    setResult(undefined)
    const response = await send('admin/balancer/simulate', { method: 'POST', body: requestOf(model, asked) })
    setResult((await response.json()) as Simulated)
  })
  return (
    <Panel title="Simulate a request">
      <form
        class="body stack"
        onSubmit={(event) => {
          event.preventDefault()
          simulate.run()
        }}
      >
        <div class="fields">
          <Field label="Model or group">
            {(ids) => (
              <>
                <input
                  {...ids}
                  list="models"
                  value={model}
                  required
                  onInput={(event) => set({ model: event.currentTarget.value })}
                />
                <datalist id="models">
                  {[...groups, ...models].map((id) => (
                    <option key={id} value={id} />
                  ))}
                </datalist>
              </>
            )}
          </Field>
          <Field label="Provider">
            {(ids) => (
              <select
                {...ids}
                value={asked.provider}
                onChange={(event) => set({ provider: event.currentTarget.value })}
              >
                <option value="auto">auto: the cheapest</option>
                <option value="">any: the first in order</option>
                {providers.map((id) => (
                  <option key={id}>{id}</option>
                ))}
              </select>
            )}
          </Field>
          <Field label="Tokens of the prompt">
            {(ids) => (
              <input
                {...ids}
                type="number"
                min="1"
                max="4000000"
                required
                value={asked.promptTokens}
                onInput={(event) => set({ promptTokens: event.currentTarget.valueAsNumber })}
              />
            )}
          </Field>
          <Field label="Tokens of the answer, at most">
            {(ids) => (
              <input
                {...ids}
                type="number"
                min="1"
                required
                value={asked.maxTokens}
                onInput={(event) => set({ maxTokens: event.currentTarget.valueAsNumber })}
              />
            )}
          </Field>
        </div>
        <div class="row">
          <Check label="with tools" checked={asked.tools} onChange={(tools) => set({ tools })} />
          <Check label="with a picture" checked={asked.picture} onChange={(picture) => set({ picture })} />
        </div>
        <div class="row">
          <ActionButton action={simulate} class="primary">
            Show the order
          </ActionButton>
          <span class="small muted">No provider is called, and nothing is charged.</span>
        </div>
      </form>
      <div aria-live="polite">
        {simulate.error !== undefined && (
          <div class="body">
            <ErrorNotice error={simulate.error} />
          </div>
        )}
        {result && <Candidates choice={result} />}
      </div>
    </Panel>
  )
}

/** Tells a choice from others, in the address of the page. */
const choiceKey = ({ time, request_id }: Choice): string => request_id ?? time

export function Routing() {
  const data = useData(
    async (signal) => {
      const [balancer, { providers }] = await Promise.all([
        read<BalancerAnswer>('balancer', signal),
        read<ProvidersAnswer>('providers', signal),
      ])
      return { ...balancer, ids: [...new Set(providers.map(({ id }) => id))] }
    },
    [],
    10_000,
  )
  const asked = route.value.query.get('choice')
  const open = data.value?.choices.find((one) => choiceKey(one) === asked)
  const columns: Column<Choice>[] = [
    {
      name: 'Time',
      cell: (one) => (
        <RowLink class="nowrap" open={() => setQuery({ choice: choiceKey(one) })}>
          {time(one.time)}
        </RowLink>
      ),
    },
    { name: 'Model', cell: ({ model }) => model },
    { name: 'Provider', cell: ({ provider }) => provider ?? 'any' },
    { name: 'Decided by', cell: ({ by }) => (by === 'price' ? 'price' : 'order') },
    { name: 'Answered', cell: answeredBy },
    { name: 'Candidates', number: true, cell: ({ order }) => order.length },
    { name: 'Calls', number: true, cell: ({ attempts }) => attempts },
  ]
  return (
    <Page title="Routing">
      <Loaded data={data}>
        {({ groups, choices, ids }) => (
          <>
            <Simulate groups={Object.keys(groups)} providers={ids} />
            <Panel title="Recent choices">
              {choices.length === 0 ? (
                <Empty title="No request had several candidates yet">
                  <p>
                    A choice is listed where several providers could serve a request: with{' '}
                    <code>"provider": "auto"</code>, with a group of models, or where two providers have the same model.
                  </p>
                </Empty>
              ) : (
                <Table caption="Recent choices" columns={columns} rows={choices} rowKey={choiceKey} />
              )}
            </Panel>
            <Panel title="Groups">
              {Object.keys(groups).length === 0 ? (
                <Empty title="No groups of models">
                  <p>A group is one name for several models, in order of preference.</p>
                </Empty>
              ) : (
                <Table
                  caption="Groups of models"
                  columns={[
                    { name: 'Group', cell: ([name]) => name },
                    { name: 'Models, in order', cell: ([, models]) => models.join(', ') },
                  ]}
                  rows={Object.entries(groups)}
                  rowKey={([name]) => name}
                />
              )}
            </Panel>
          </>
        )}
      </Loaded>
      {open && (
        <Dialog
          title={`Why ${open.served?.provider ?? 'no provider'} answered`}
          onClose={() => setQuery({ choice: undefined })}
        >
          <ChoiceFacts choice={open} />
          <Candidates choice={open} served={open.served} />
        </Dialog>
      )}
    </Page>
  )
}
