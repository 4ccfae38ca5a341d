import {
  ConfirmButton,
  Dialog,
  ErrorNotice,
  Facts,
  Field,
  Folded,
  Form,
  linkTo,
  Notice,
  numberIn,
  textOf,
  useAction,
} from '@turnpike/ui'
import type { Group } from './answers.js'
import { send } from './api.js'
import { Members, membersIn } from './members.js'

const pathOf = (name: string): string => `admin/groups/${encodeURIComponent(name)}`

/** The body that the form of a group says; what is empty is left out. */
function groupIn(form: FormData): Partial<Group> {
  const statuses = textOf(form, 'failoverStatuses').split(/[\s,]+/)
  const body = {
    models: membersIn(form),
    contextFallback: textOf(form, 'contextFallback') || null,
    contentFallback: textOf(form, 'contentFallback') || null,
    retries: numberIn(form, 'retries'),
    maxWaitMs: numberIn(form, 'maxWaitMs'),
    failoverStatuses: statuses[0] ? statuses.map(Number) : null,
  }
  return Object.fromEntries(Object.entries(body).filter(([, value]) => value !== null))
}

function RuleFields({ of: group }: { of: Group | undefined }) {
  return (
    <Folded summary="Fallbacks, retries and more">
      <Field
        label="If the prompt is too long"
        name="contextFallback"
        hint="The model that is asked then. Empty: the next one."
      >
        {(ids) => <input {...ids} defaultValue={group?.contextFallback} autocomplete="off" />}
      </Field>
      <Field label="If a filter refuses" name="contentFallback" hint="The model that is asked then. Empty: none.">
        {(ids) => <input {...ids} defaultValue={group?.contentFallback} autocomplete="off" />}
      </Field>
      <div class="numbers">
        <Field label="Retries" name="retries" hint="Where all are busy. Empty: as everywhere.">
          {(ids) => <input {...ids} type="number" min={0} max={100} step={1} defaultValue={group?.retries} />}
        </Field>
        <Field label="Longest wait, ms" name="maxWaitMs" hint="Before a retry. Empty: as everywhere.">
          {(ids) => <input {...ids} type="number" min={0} step={1} defaultValue={group?.maxWaitMs} />}
        </Field>
        <Field label="Statuses to go on after" name="failoverStatuses" hint="Such as 500, 502.">
          {(ids) => <input {...ids} defaultValue={group?.failoverStatuses?.join(', ')} autocomplete="off" />}
        </Field>
      </div>
    </Folded>
  )
}

/** Makes a group of models, or changes one. @param of absent for a new one @param isTaken whether a new one cannot have a name */
export function GroupDrawer({
  of: group,
  names,
  isTaken,
  onChange,
  onClose,
}: {
  of?: Group
  names: readonly string[]
  isTaken?: (name: string) => boolean
  onChange: (done: string) => void
  onClose: () => void
}) {
  const save = useAction(async (form: FormData) => {
    const name = group?.name ?? textOf(form, 'name')
    if (isTaken?.(name)) throw new Error('name is taken by another group')
    await send(pathOf(name), { method: 'PUT', body: groupIn(form) })
    onChange(group ? `The group ${name} is changed.` : `${name} is a group now: programs can ask for it as a model.`)
  })
  const remove = useAction(async () => {
    await send(pathOf(group!.name), { method: 'DELETE' })
    onChange(`The group ${group!.name} is deleted.`)
  })
  const isFixed = group?.source === 'configuration'
  return (
    <Dialog title={group?.name ?? 'New group'} onClose={onClose}>
      {group && <a href={linkTo('/admin/routing', { model: group.name })}>See what a request for it would get</a>}
      {isFixed ? (
        <>
          <Facts
            facts={[['Models', group.models.map((one) => (typeof one === 'string' ? one : one.model)).join(', ')]]}
          />
          <Notice>
            It is in the configuration of the server (routing.groups or MODEL_GROUPS), and is changed there.
          </Notice>
        </>
      ) : (
        <Form action={save} label={group ? 'Save' : 'Create group'}>
          {!group && (
            <Field label="Name" name="name" hint="What programs ask for, such as fast.">
              {(ids) => <input {...ids} required maxLength={256} pattern="\S+" autocomplete="off" autofocus />}
            </Field>
          )}
          <Members models={group?.models ?? []} names={names} />
          <RuleFields of={group} />
        </Form>
      )}
      {group && !isFixed && (
        <div class="stack zone">
          <ErrorNotice error={remove.error} />
          <div class="row end">
            <ConfirmButton action={remove} label="Delete" busy="Deleting…" title={`Delete ${group.name}?`}>
              <p>
                Requests for it are answered “no such model” from then on, and keys that are limited to it get nothing.
              </p>
            </ConfirmButton>
          </div>
        </div>
      )}
    </Dialog>
  )
}
