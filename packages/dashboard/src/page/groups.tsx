import { Empty, Loaded, Page, Panel, plural, route, setQuery, Status, useChanges, useData, RowLink } from '@turnpike/ui'
import { useEffect, useState } from 'preact/hooks'
import type { Group, PricingAnswer } from './answers.js'
import { read } from './api.js'
import { readIfThere } from './if-there.js'
import { GroupDrawer } from './group-drawer.js'

/** Names of models to choose among: with their providers, and alone. */
export const modelNames = ({ models }: PricingAnswer): string[] => [
  ...new Set(models.flatMap(({ id, provider }) => [`${provider}/${id}`, id])),
]

/** What a group does besides its order, in words. */
const rulesOf = ({ contextFallback, contentFallback, retries, maxWaitMs, failoverStatuses }: Group): string[] =>
  [
    contextFallback !== undefined && `too long: ${contextFallback}`,
    contentFallback !== undefined && `filtered: ${contentFallback}`,
    retries !== undefined && `${plural(retries, 'time')} again`,
    maxWaitMs !== undefined && `waits ${maxWaitMs} ms at most`,
    failoverStatuses && `also after ${failoverStatuses.join(', ')}`,
  ].filter((rule) => rule !== false && rule !== undefined)

function GroupItem({ of: group }: { of: Group }) {
  const { name, source, models, fault } = group
  return (
    <li class="item group">
      <div>
        <RowLink class="name" open={() => setQuery({ name })}>
          {name}
        </RowLink>
        <p class="small muted">{source === 'store' ? 'added here' : 'in the configuration'}</p>
      </div>
      <div>
        <ol class="row chips" aria-label={`Models of ${name}, in order`}>
          {models.map((one, i) => (
            <li key={i} class="badge">
              {typeof one === 'string' ? one : `${one.model} × ${one.weight}`}
            </li>
          ))}
        </ol>
        {fault !== undefined && <Status tone="bad">{fault}</Status>}
        <p class="small muted break">{rulesOf(group).join(' · ')}</p>
      </div>
    </li>
  )
}

export function Groups() {
  const data = useData(
    async (signal) => (await readIfThere<{ groups: Group[] }>('groups', signal)) ?? { groups: undefined },
    [],
  )
  const pricing = useData((signal) => read<PricingAnswer>('pricing', signal), [])
  const { count: changes, notice, onChange } = useChanges()
  useEffect(() => {
    if (changes > 0) data.again()
  }, [changes])
  const [isAdding, setAdding] = useState(false)
  const openedName = route.value.query.get('name')
  const opened = data.value?.groups?.find(({ name }) => name === openedName)
  const names = pricing.value ? modelNames(pricing.value) : []
  const addButton = (
    <button type="button" class="primary" onClick={() => setAdding(true)}>
      New group
    </button>
  )
  return (
    <Page title="Groups" actions={data.value?.groups && addButton}>
      {notice}
      <p class="muted">One name for several models: a request for the group goes to the first that can serve it.</p>
      <Loaded data={data}>
        {({ groups }) => (
          <Panel title={groups ? plural(groups.length, 'group') : 'Groups'}>
            {!groups ? (
              <Empty title="The program that runs this gateway has the groups" />
            ) : groups.length === 0 ? (
              <Empty title="No group yet">
                <p>
                  Programs ask for a group by its name, such as fast; what it stands for is changed here at any time.
                </p>
              </Empty>
            ) : (
              <ul class="items" aria-label="Groups">
                {groups.map((group) => (
                  <GroupItem key={group.name} of={group} />
                ))}
              </ul>
            )}
          </Panel>
        )}
      </Loaded>
      {isAdding && (
        <GroupDrawer
          names={names}
          isTaken={(name) => data.value?.groups?.some((one) => one.name === name) === true}
          onClose={() => setAdding(false)}
          onChange={(done) => {
            setAdding(false)
            onChange(done)
          }}
        />
      )}
      {opened && (
        <GroupDrawer
          key={opened.name}
          of={opened}
          names={names}
          onClose={() => setQuery({ name: undefined })}
          onChange={(done) => {
            setQuery({ name: undefined })
            onChange(done)
          }}
        />
      )}
    </Page>
  )
}
