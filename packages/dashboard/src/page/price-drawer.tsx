import {
  ConfirmButton,
  Dialog,
  ErrorNotice,
  Facts,
  Field,
  Folded,
  Form,
  numberIn,
  textOf,
  useAction,
  words,
} from '@turnpike/ui'
import { useId } from 'preact/hooks'
import type { Price, PricedModel } from './answers.js'
import { send } from './api.js'

/** The classes of units that most models have, and the others. */
const common = ['input', 'output', 'cache_read', 'cache_write'] as const
const rare = [
  'cache_write_1h',
  'reasoning',
  'input_audio',
  'output_audio',
  'input_image',
  'output_image',
  'characters',
  'seconds',
  'images',
] as const

const labels: Record<string, string> = {
  input: 'Input',
  output: 'Output',
  cache_read: 'Cache read',
  cache_write: 'Cache write',
}

/** The rates in force, as a row of a table has them. */
const ratesOf = ({ input, output, cache_read, cache_write, other }: PricedModel): Record<string, number | null> => ({
  input,
  output,
  cache_read,
  cache_write,
  ...other,
})

const pathOf = (model: string): string => `admin/prices/${model.split('/').map(encodeURIComponent).join('/')}`

/** What is in force, and from where. */
const InForce = ({ of: { source, since } }: { of: PricedModel }) => (
  <Facts
    facts={[
      ['In force', source === 'store' ? 'your own price' : source === null ? 'no price is known' : `from ${source}`],
      ['Since', since ?? undefined],
    ]}
  />
)

/**
 * The own price of a model.
 * @param name `provider/model`; absent where it is to be typed
 * @param model what is in force @param own the price in the store, where there is one @param names suggestions
 */
export function PriceDrawer({
  name,
  model,
  own,
  names,
  onChange,
  onClose,
}: {
  name?: string | undefined
  model?: PricedModel | undefined
  own?: Price | undefined
  names: readonly string[]
  onChange: (done: string) => void
  onClose: () => void
}) {
  const listId = useId()
  const shown = (own?.price ?? (model && ratesOf(model)) ?? {}) as Record<string, number | null | undefined>
  const save = useAction(async (form: FormData) => {
    const target = name ?? textOf(form, 'model')
    if (!target.includes('/')) throw new Error('model must be like provider/model, or */model for every provider')
    const rates = [...common, ...rare].flatMap((unit) => {
      const rate = numberIn(form, unit)
      return rate === null ? [] : [[unit, rate] as const]
    })
    // Tiers of prompts and of services are kept as they are.
    const { tiers, service_tiers } = own?.price ?? {}
    await send(pathOf(target), {
      method: 'PUT',
      body: {
        ...Object.fromEntries(rates),
        ...(tiers !== undefined && { tiers }),
        ...(service_tiers !== undefined && { service_tiers }),
      },
    })
    onChange(`${target} has your own price from the next request on.`)
  })
  const remove = useAction(async () => {
    await send(pathOf(own!.model), { method: 'DELETE' })
    onChange(`${own!.model} has the price of the table again.`)
  })
  const rates = (units: readonly string[]) => (
    <div class="numbers">
      {units.map((unit) => (
        <Field key={unit} label={labels[unit] ?? words(unit)} name={unit}>
          {(ids) => <input {...ids} type="number" min={0} step="any" defaultValue={shown[unit] ?? undefined} />}
        </Field>
      ))}
    </div>
  )
  return (
    <Dialog title={name ?? 'Set a price'} onClose={onClose}>
      {model && <InForce of={model} />}
      <Form action={save} label="Set price">
        {name === undefined && (
          <Field label="Model" name="model" hint="Such as groq/llama-3.3-70b; */llama-3.3-70b is for every provider.">
            {(ids) => (
              <>
                <input {...ids} list={listId} required autocomplete="off" autofocus />
                <datalist id={listId}>
                  {names.map((one) => (
                    <option key={one} value={one} />
                  ))}
                </datalist>
              </>
            )}
          </Field>
        )}
        <p class="small muted">
          US dollars per million tokens, in place of the whole price of the table. An empty field costs as much as input
          or output.
        </p>
        {rates(common)}
        <Folded summary="Audio, pictures and other units">{rates(rare)}</Folded>
      </Form>
      {own && (
        <div class="stack zone">
          <ErrorNotice error={remove.error} />
          <div class="row end">
            <ConfirmButton action={remove} label="Remove" busy="Removing…" title="Remove your own price?">
              <p>Requests cost what the table says from then on. What was recorded stays as it is.</p>
            </ConfirmButton>
          </div>
        </div>
      )}
    </Dialog>
  )
}
