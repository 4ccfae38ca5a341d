import type { ComponentChildren, TargetedMouseEvent } from 'preact'
import { Fragment } from 'preact'
import { useEffect, useId, useRef, useState } from 'preact/hooks'
import type { Entry } from '../entries.js'
import { entryAt } from '../entries.js'
import { Menu as MenuIcon } from '../icons.js'
import { MARK } from '../mark.js'
import { goTo, linkTo, route } from '../route.js'
import { useShortcut } from '../shortcuts.js'
import { useTitle } from '../title.js'
import { Field, ThemeButton } from './controls.js'
import { Dialog } from './dialog.js'
import { Icon } from './icon.js'
import { ShortcutList } from './shortcut-list.js'

const Mark = () => (
  <svg width="20" height="20" viewBox="0 0 20 20" fill="none" stroke="currentColor" stroke-width="2" aria-hidden="true">
    <path d={MARK} />
  </svg>
)

const Brand = ({ name }: { name: string }) => (
  <div class="brand">
    <Mark />
    <span>{name}</span>
  </div>
)

/** Goes to a page by its keys. */
function GoTo({ path, keys, name, section }: Entry & { keys: string }) {
  useShortcut(keys, `Go to ${name}${section === undefined ? '' : ` (${section})`}`, () => goTo(path))
  return null
}

/** The links to all pages, by their sections. */
function Links({ pages }: { pages: readonly Entry[] }) {
  const id = useId()
  const current = entryAt(pages, route.value.path)
  const listed = pages.filter(({ unlisted }) => !unlisted)
  const sections = [...new Set(listed.map(({ section }) => section))]
  return (
    <nav aria-label="Pages">
      {sections.map((section, i) => (
        <Fragment key={section}>
          {section !== undefined && <h2 id={`${id}-${i}`}>{section}</h2>}
          <ul aria-labelledby={section && `${id}-${i}`}>
            {listed
              .filter((page) => page.section === section)
              .map((page) => (
                <li key={page.path}>
                  <a href={linkTo(page.path)} aria-current={page === current ? 'page' : undefined}>
                    <Icon icon={page.icon} />
                    <span>{page.name}</span>
                  </a>
                </li>
              ))}
          </ul>
        </Fragment>
      ))}
    </nav>
  )
}

/**
 * A page with the links to all pages at its side: with words, or as icons where the window is narrow; on a phone behind a button. `?` lists the shortcuts.
 * @param head what is above the links
 * @param search the button that a phone has beside that of the links
 */
export function Shell({
  name,
  pages,
  head,
  search,
  footer,
  children,
}: {
  name: string
  pages: readonly Entry[]
  head?: ComponentChildren
  search?: ComponentChildren
  footer?: ComponentChildren
  children: ComponentChildren
}) {
  const main = useRef<HTMLElement>(null)
  const [isOpen, open] = useState(false)
  useTitle(entryAt(pages, route.value.path)?.section, -1)
  // What was chosen there is shown.
  useEffect(() => open(false), [route.value])
  const side = (
    <>
      {head}
      <Links pages={pages} />
      <div class="side-foot">{footer}</div>
    </>
  )
  // At once, so that the page that is opened can have the focus.
  const leave = ({ target, currentTarget }: TargetedMouseEvent<HTMLElement>): void => {
    if (target instanceof Element && target.closest('a')) currentTarget.closest('dialog')!.close()
  }
  return (
    <div class="shell">
      <a
        class="skip"
        href="#main"
        onClick={(event) => {
          // The hash is the page.
          event.preventDefault()
          main.current!.focus()
        }}
      >
        Skip to content
      </a>
      {pages.map((page) => page.keys !== undefined && <GoTo key={page.path} {...page} keys={page.keys} />)}
      <header class="top">
        <Brand name={name} />
        {search}
        <button
          type="button"
          class="quiet"
          aria-label="Menu"
          aria-haspopup="dialog"
          aria-expanded={isOpen}
          onClick={() => open(true)}
        >
          <Icon icon={MenuIcon} size={20} />
        </button>
      </header>
      <header class="side">
        <Brand name={name} />
        {side}
      </header>
      <main id="main" ref={main} tabIndex={-1}>
        {children}
      </main>
      {isOpen && (
        <Dialog title={<Brand name={name} />} form="drawer menu-drawer" onClose={() => open(false)}>
          <div class="side-links" onClick={leave}>
            {side}
          </div>
        </Dialog>
      )}
      <ShortcutList />
    </div>
  )
}

/**
 * Where somebody signs in: the name of the installation above a form, whose first field has the focus.
 * @param error why that failed, if it did: the secret that was typed is selected then, so that another one takes its place
 */
export function Entrance({ name, error, children }: { name: string; error: unknown; children: ComponentChildren }) {
  const panel = useRef<HTMLElement>(null)
  useEffect(() => panel.current!.querySelector('input')?.focus(), [])
  useEffect(() => {
    if (error !== undefined) panel.current!.querySelector<HTMLInputElement>('input[type=password]')?.select()
  }, [error])
  return (
    <main class="centre">
      <Brand name={name} />
      <section ref={panel} class="panel body stack">
        {children}
      </section>
      <ThemeButton />
    </main>
  )
}

/** The fields by which people sign in: `email` and `password`. */
export const SignInFields = () => (
  <>
    <Field label="E-mail">
      {(ids) => <input {...ids} name="email" type="email" autocomplete="username" required />}
    </Field>
    <Field label="Password">
      {(ids) => <input {...ids} name="password" type="password" autocomplete="current-password" required />}
    </Field>
  </>
)
