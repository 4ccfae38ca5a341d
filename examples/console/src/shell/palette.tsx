import type { Entry } from '@turnpike/ui'
import { best, count, Icon, icons, linkTo, nextTheme, rank, theme, themeIcons, themeNames } from '@turnpike/ui'
import { useEffect, useId, useLayoutEffect, useRef, useState } from 'preact/hooks'
import type { User } from '../turnpike.js'
import { signOut } from '../turnpike.js'
import { opened, recentOnes } from './recent.js'
import type { Target } from './sources.js'
import { sourcesOf } from './sources.js'
import { useLists } from './use-lists.js'

/** How many of each group are shown. */
const MOST = 5

/** What can be done from everywhere. */
const actionsOf = ({ role }: User, shown: string | undefined): Target[] => [
  { name: 'New project', icon: icons.New, link: linkTo('/projects', { new: 1 }) },
  ...(shown === undefined ? [] : [{ name: 'New task', icon: icons.New, link: linkTo(shown, { new: 1 }) }]),
  ...(role === 'user' ? [] : [{ name: 'New key', icon: icons.New, link: linkTo('/keys', { new: 1 }) }]),
  { name: 'New token', icon: icons.New, link: linkTo('/account', { new: 1 }) },
  ...(role === 'admin' ? [{ name: 'New user', icon: icons.New, link: linkTo('/admin/users', { new: 1 }) }] : []),
  {
    name: `Change to ${themeNames[nextTheme[theme.value]].toLowerCase()}`,
    icon: themeIcons[nextTheme[theme.value]],
    run: () => (theme.value = nextTheme[theme.value]),
  },
  { name: 'Sign out', icon: icons.SignOut, run: () => void signOut() },
]

interface Group {
  name: string
  targets: readonly Target[]
}

/** All that is found, by group, and the lists that were read in part without it. */
function useGroups(
  user: User,
  pages: readonly Entry[],
  wanted: string,
): { groups: Group[]; isReading: boolean; cut: Group[] } {
  const found = (targets: readonly Target[], most = MOST) => best(wanted, targets, most)
  const isFound = (targets: readonly Target[]) => targets.some(({ name }) => rank(wanted, name) === 0)
  const sources = sourcesOf(user)
  const { lists, isReading } = useLists(user, sources, wanted, isFound)
  const text = wanted.trim()
  const recent = recentOnes()
    .filter(({ link }) => link !== location.hash)
    .map(({ name, kind, link }) => ({ name, detail: kind, icon: icons.Recent, link }))
  const project = /^#(\/projects\/[^/?]+)/.exec(location.hash)?.[1]
  const ofPages = pages.map(({ name, section, icon, path }) => ({
    name,
    ...(section !== undefined && { detail: section }),
    icon,
    link: linkTo(path),
  }))
  const isRecent = new Set(recent.map(({ link }) => link))
  const groups: Group[] = [
    { name: 'Recent', targets: found(recent) },
    { name: 'Pages', targets: found(ofPages, text === '' ? Infinity : MOST) },
    { name: 'Actions', targets: found(actionsOf(user, project), Infinity) },
    ...(text === ''
      ? []
      : sources.map(({ name }) => ({
          name,
          targets: found(lists[name]?.items.filter(({ link }) => !isRecent.has(link!)) ?? []),
        }))),
  ]
  if (user.role === 'admin' && text !== '')
    groups.push({
      name: 'Requests',
      targets: [
        { name: `Requests with “${text}”`, icon: icons.Requests, link: linkTo('/admin/requests', { filter: text }) },
      ],
    })
  const cut = sources.flatMap(({ name }) => {
    const { items = [], next } = lists[name] ?? {}
    return text === '' || next === undefined || isFound(items) ? [] : { name, targets: items }
  })
  return { groups: groups.filter(({ targets }) => targets.length > 0), isReading, cut }
}

/** How far lists were searched. */
const onlyNewest = (lists: readonly Group[]): string =>
  `Only the newest ${lists.map(({ name, targets }) => `${count(targets.length)} ${name.toLowerCase()}`).join(', ')} were searched.`

/** Finds pages, things and actions by what is typed: a combobox over a list. Arrow keys choose, Enter opens, Esc closes. */
export function Palette({ user, pages, onClose }: { user: User; pages: readonly Entry[]; onClose: () => void }) {
  const id = useId()
  const dialog = useRef<HTMLDialogElement>(null)
  const [wanted, setWanted] = useState('')
  const [at, setAt] = useState(0)
  const { groups, isReading, cut } = useGroups(user, pages, wanted)
  const targets = groups.flatMap(({ targets }) => targets)
  const active = Math.min(at, targets.length - 1)
  const optionId = (index: number): string => `${id}-${index}`
  // Before the next key.
  useLayoutEffect(() => dialog.current!.showModal(), [])
  useEffect(() => document.getElementById(optionId(active))?.scrollIntoView({ block: 'nearest' }), [active])
  const choose = ({ name, detail = 'Page', link, run }: Target): void => {
    // The focus goes back first, from where what is opened may take it.
    dialog.current!.close()
    if (link === undefined) return run!()
    if (!link.includes('new=')) opened({ name, kind: detail, link })
    location.hash = link
  }
  const onKeyDown = (event: KeyboardEvent): void => {
    const { length } = targets
    const next = { ArrowDown: active + 1, ArrowUp: active - 1 + length }[event.key]
    if (length > 0 && next !== undefined) setAt(next % length)
    else if (event.key === 'Enter' && targets[active]) choose(targets[active])
    else return
    event.preventDefault()
  }
  let index = -1
  return (
    <dialog
      ref={dialog}
      class="box palette"
      aria-label="Search"
      onClose={onClose}
      onClick={({ target, currentTarget }) => target === currentTarget && currentTarget.close()}
    >
      <input
        type="text"
        role="combobox"
        aria-label="Search"
        aria-expanded="true"
        aria-controls={`${id}-list`}
        aria-autocomplete="list"
        aria-activedescendant={active < 0 ? undefined : optionId(active)}
        placeholder="Search, or go to…"
        autocomplete="off"
        spellcheck={false}
        autofocus
        value={wanted}
        onInput={({ currentTarget }) => {
          setWanted(currentTarget.value)
          setAt(0)
        }}
        onKeyDown={onKeyDown}
      />
      <div id={`${id}-list`} class="found" role="listbox" aria-label="Found" tabIndex={-1}>
        {groups.map(({ name, targets }) => (
          <div key={name} role="group" aria-label={name}>
            <div class="small muted" aria-hidden="true">
              {name}
            </div>
            {targets.map((target) => {
              const own = ++index
              return (
                <div
                  key={target.link ?? target.name}
                  id={optionId(own)}
                  role="option"
                  aria-selected={own === active}
                  onPointerMove={() => setAt(own)}
                  onClick={() => choose(target)}
                >
                  <Icon icon={target.icon} />
                  <span>{target.name}</span>
                  {target.detail && <span class="small muted">{target.detail}</span>}
                </div>
              )
            })}
          </div>
        ))}
      </div>
      <div class="spread small muted">
        <span role="status">
          {targets.length === 0
            ? isReading
              ? 'Searching…'
              : 'Nothing is called that.'
            : isReading
              ? 'Searching on…'
              : `${targets.length} found.`}
          {!isReading && cut.length > 0 && ` ${onlyNewest(cut)}`}
        </span>
        <span class="hint" aria-hidden="true">
          <kbd>↑</kbd> <kbd>↓</kbd> choose · <kbd>Enter</kbd> opens
        </span>
      </div>
    </dialog>
  )
}
