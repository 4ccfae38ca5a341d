import { useId, useRef, useState } from 'preact/hooks'
import type { Model } from './models.js'
import { factsOf, sections, unfit } from './models.js'

/** Most models that are shown at once; more are found by their name. */
const MOST_SHOWN = 100

/** An option: a model of the list, or an id that is in no list. */
interface Option {
  model: string
  provider: string | undefined
  facts: string
  unfit: string | undefined
}

/**
 * A combobox of models: typing finds them, arrow keys move, Enter chooses, Esc gives up. Any id can be typed, as providers take more than they list.
 * @param onChoose is given the provider where several have the model
 */
export function ModelPicker({
  label,
  value,
  models,
  onChoose,
}: {
  label: string
  value: string
  models: readonly Model[]
  onChoose: (model: string, provider: string | undefined) => void
}) {
  const id = useId()
  const list = useRef<HTMLDivElement>(null)
  /** What was typed since it was opened; undefined while it is closed. */
  const [typed, setTyped] = useState<string | undefined>(undefined)
  const [active, setActive] = useState(0)
  const isOpen = typed !== undefined

  const optionOf = (model: Model): Option => ({
    model: model.id,
    provider: models.filter((one) => one.id === model.id).length > 1 ? model.provider : undefined,
    facts: factsOf(model),
    unfit: unfit(model),
  })
  const found = sections(models, typed ?? '').map(([name, of]) => [name, of.map(optionOf)] as [string, Option[]])
  const other = (typed ?? '').trim()
  if (other !== '' && !models.some((one) => one.id === other))
    found.push(['Not listed', [{ model: other, provider: undefined, facts: 'Ask for this id', unfit: undefined }]])
  const all = found.flatMap(([, options]) => options)
  const shown = all.slice(0, MOST_SHOWN)
  const chosen = shown[Math.min(active, shown.length - 1)]

  const open = (text: string): void => {
    const listed = sections(models, text).flatMap(([, of]) => of)
    setTyped(text)
    setActive(
      Math.max(0, text === '' ? listed.findIndex((one) => one.id === value) : listed.findIndex((one) => !unfit(one))),
    )
    if (!list.current!.matches(':popover-open')) list.current!.showPopover()
  }
  const close = (): void => {
    setTyped(undefined)
    if (list.current?.matches(':popover-open')) list.current.hidePopover()
  }
  const choose = (option: Option | undefined): void => {
    if (!option || option.unfit !== undefined) return
    onChoose(option.model, option.provider)
    close()
  }
  const move = (to: number): void => {
    const next = (to + shown.length) % shown.length
    setActive(next)
    list.current!.querySelectorAll('[role=option]')[next]?.scrollIntoView({ block: 'nearest' })
  }
  const onKeyDown = (event: KeyboardEvent): void => {
    const isMove = event.key === 'ArrowDown' || event.key === 'ArrowUp'
    if (event.key === 'Escape' && isOpen) close()
    else if (event.key === 'Enter' && isOpen && !event.ctrlKey && !event.metaKey && !event.isComposing) choose(chosen)
    else if (isMove && !isOpen) open('')
    else if (isMove && shown.length > 0) move(active + (event.key === 'ArrowDown' ? 1 : -1))
    else return
    event.preventDefault()
  }

  let at = -1
  return (
    <div class="model-picker">
      <input
        role="combobox"
        aria-label={label}
        aria-expanded={isOpen}
        aria-controls={id}
        aria-autocomplete="list"
        aria-activedescendant={isOpen && chosen ? `${id}-${shown.indexOf(chosen)}` : undefined}
        autocomplete="off"
        spellcheck={false}
        placeholder={value || 'Search models'}
        value={typed ?? value}
        onInput={(event) => open(event.currentTarget.value)}
        onFocus={(event) => event.currentTarget.select()}
        onClick={() => isOpen || open('')}
        onKeyDown={onKeyDown}
        onBlur={close}
      />
      <div
        ref={list}
        id={id}
        popover="manual"
        role="listbox"
        aria-label={label}
        class="models"
        // The field keeps the focus.
        onPointerDown={(event) => event.preventDefault()}
      >
        {isOpen &&
          found.map(
            ([name, options]) =>
              at + 1 < MOST_SHOWN && (
                <div key={name} role="group" aria-label={name}>
                  <div class="models-head small muted" aria-hidden="true">
                    {name}
                  </div>
                  {options.slice(0, MOST_SHOWN - at - 1).map((option) => {
                    at++
                    return (
                      <div
                        key={option.model}
                        id={`${id}-${at}`}
                        role="option"
                        aria-selected={option === chosen}
                        aria-disabled={option.unfit !== undefined}
                        onClick={() => choose(option)}
                      >
                        <span class="break">{option.model}</span>
                        <span class="small muted break">{option.unfit ?? option.facts}</span>
                      </div>
                    )
                  })}
                </div>
              ),
          )}
      </div>
      {isOpen && (
        <span class="visually-hidden" role="status">
          {all.length === 1 ? '1 model' : `${all.length} models`}
          {all.length > MOST_SHOWN && `, of which ${MOST_SHOWN} are shown`}
        </span>
      )}
    </div>
  )
}
