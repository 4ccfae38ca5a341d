import { ActionButton, Dialog, Form, Icon, icons, useAction } from '@turnpike/ui'
import { useRef, useState } from 'preact/hooks'
import type { Provider, ProviderType } from './answers.js'
import { send } from './api.js'
import { presetSettings, ProviderFields } from './provider-fields.js'
import { askedOf, settingsIn } from './provider-settings.js'
import { probe, useTest } from './provider-test.js'

/** What is chosen among: a kind, or a server of one's own with the API of OpenAI. */
interface Choice {
  type: ProviderType
  isOwn: boolean
}

const hostOf = (address: string): string => new URL(address.replace('{accountId}', 'account')).host

const Tile = ({ name, detail, onClick }: { name: string; detail?: string | undefined; onClick: () => void }) => (
  <li>
    <button type="button" class="tile" onClick={onClick}>
      <span>{name}</span>
      {detail !== undefined && <span class="small muted">{detail}</span>}
    </button>
  </li>
)

/** The kinds of providers, as tiles. */
function Kinds({ types, onChoose }: { types: readonly ProviderType[]; onChoose: (choice: Choice) => void }) {
  const tiles = (some: readonly ProviderType[]) =>
    some.map((type) => (
      <Tile
        key={type.type}
        name={type.name}
        detail={type.base_url && hostOf(type.base_url)}
        onClick={() => onChoose({ type, isOwn: false })}
      />
    ))
  const compatible = types.find(({ type }) => type === 'openai')
  return (
    <>
      <section class="stack" aria-label="Services">
        <h3>Services</h3>
        <ul class="tiles">{tiles(types.filter(({ local }) => !local))}</ul>
      </section>
      <section class="stack" aria-label="Your own servers">
        <h3>Your own servers</h3>
        <ul class="tiles">
          {tiles(types.filter(({ local }) => local))}
          {compatible && (
            <Tile
              name="Any other server"
              detail="with OpenAI’s API"
              onClick={() => onChoose({ type: compatible, isOwn: true })}
            />
          )}
        </ul>
      </section>
    </>
  )
}

/** The settings of a new provider, which can be tested before they are stored. */
function NewProvider({ of: { type, isOwn }, onAdded }: { of: Choice; onAdded: (added: Provider) => void }) {
  const asked = askedOf(type, {}, isOwn)
  const form = useRef<HTMLDivElement>(null)
  const bodyOf = (fields: FormData): object => ({ type: type.type, ...settingsIn(fields, asked) })
  const add = useAction(async (fields: FormData) => {
    const response = await send('admin/providers', { method: 'POST', body: bodyOf(fields) })
    onAdded((await response.json()) as Provider)
  })
  const test = useTest((fields) => probe('', bodyOf(fields!)))
  const runTest = (): void => {
    const element = form.current!.closest('form')!
    if (element.reportValidity()) test.action.run(new FormData(element))
  }
  return (
    <Form
      action={add}
      fault={test.action.error}
      label="Add provider"
      others={
        <ActionButton action={test.action} onClick={runTest}>
          Test
        </ActionButton>
      }
    >
      <div ref={form} class="stack">
        <ProviderFields asked={asked} given={isOwn ? {} : presetSettings(type)} />
      </div>
      {test.said}
    </Form>
  )
}

/** Adds a provider: first its kind, then its settings. */
export function AddProvider({
  types,
  onAdded,
  onClose,
}: {
  types: readonly ProviderType[]
  onAdded: (added: Provider) => void
  onClose: () => void
}) {
  const [chosen, choose] = useState<Choice>()
  return (
    <Dialog
      title={chosen ? (chosen.isOwn ? 'Server with OpenAI’s API' : chosen.type.name) : 'Add a provider'}
      onClose={onClose}
      actions={
        chosen && (
          <button type="button" class="quiet" onClick={() => choose(undefined)}>
            <Icon icon={icons.Back} /> All kinds
          </button>
        )
      }
    >
      {chosen ? (
        <>
          <p class="muted">The key is encrypted in the store, and shown to nobody from then on.</p>
          <NewProvider of={chosen} onAdded={onAdded} />
        </>
      ) : (
        <Kinds types={types} onChoose={choose} />
      )}
    </Dialog>
  )
}
