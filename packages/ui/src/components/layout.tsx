import type { ComponentChildren } from 'preact'
import { Fragment } from 'preact'
import { useEffect, useRef } from 'preact/hooks'
import { MARK } from '../mark.js'
import { Bad, Busy, Good, Off, Warning } from '../icons.js'
import type { Entry } from '../entries.js'
import { entryAt } from '../entries.js'
import { linkTo, route } from '../route.js'
import { ThemeButton } from './controls.js'
import { Icon } from './icon.js'

const Mark = () => (
  <svg width="20" height="20" viewBox="0 0 20 20" fill="none" stroke="currentColor" stroke-width="2" aria-hidden="true">
    <path d={MARK} />
  </svg>
)

/** A page with the links to all pages at its side; on a phone, above it. */
export function Shell({
  name,
  pages,
  footer,
  children,
}: {
  name: string
  pages: readonly Entry[]
  footer?: ComponentChildren
  children: ComponentChildren
}) {
  const current = entryAt(pages, route.value.path)
  const sections = [...new Set(pages.map(({ section }) => section))]
  const main = useRef<HTMLElement>(null)
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
      <header class="side">
        <div class="brand">
          <Mark />
          {name}
        </div>
        <nav aria-label="Pages">
          {sections.map((section) => (
            <Fragment key={section}>
              {section !== undefined && <h2 id={`section-${section}`}>{section}</h2>}
              <ul aria-labelledby={section && `section-${section}`}>
                {pages
                  .filter((page) => page.section === section)
                  .map((page) => (
                    <li key={page.path}>
                      <a href={linkTo(page.path)} aria-current={page === current ? 'page' : undefined}>
                        <Icon icon={page.icon} />
                        {page.name}
                      </a>
                    </li>
                  ))}
              </ul>
            </Fragment>
          ))}
        </nav>
        <div class="side-foot">
          {footer}
          <ThemeButton />
        </div>
      </header>
      <main id="main" ref={main} tabIndex={-1}>
        {children}
      </main>
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
      <div class="brand">
        <Mark />
        {name}
      </div>
      <section ref={panel} class="panel body">
        {children}
      </section>
      <ThemeButton />
    </main>
  )
}

/** What a page and a panel have. */
interface Titled {
  title: string
  /** What can be done, beside the title. */
  actions?: ComponentChildren
  children: ComponentChildren
}

/** Whether a page was shown before: the first one leaves the focus where the browser puts it. */
let opened = false

/** One page: its title, which gets the focus when the page is opened by a link, and what can be done. */
export function Page({ title, actions, children }: Titled) {
  const heading = useRef<HTMLHeadingElement>(null)
  useEffect(() => {
    document.title = `${title} · Turnpike`
  }, [title])
  useEffect(() => {
    if (opened) heading.current!.focus()
    opened = true
  }, [])
  return (
    <div class="page">
      <div class="page-head">
        <h1 ref={heading} tabIndex={-1} class="break">
          {title}
        </h1>
        {actions}
      </div>
      {children}
    </div>
  )
}

/** A part of a page with a heading. */
export const Panel = ({ title, actions, children }: Titled) => (
  <section class="panel" aria-label={title}>
    <header>
      <h2>{title}</h2>
      {actions !== undefined && <div class="row">{actions}</div>}
    </header>
    {children}
  </section>
)

/** What is said where there is nothing yet, and what to do next. */
export const Empty = ({ title, children }: { title: string; children?: ComponentChildren }) => (
  <div class="empty">
    <p>{title}</p>
    {children}
  </div>
)

/** Something to be known: an error, a warning, a hint. Screen readers read it at once. */
export const Notice = ({ tone, children }: { tone?: 'warn' | 'bad'; children: ComponentChildren }) => (
  <div class={`notice ${tone ?? ''}`} role={tone === 'bad' ? 'alert' : 'status'}>
    {children}
  </div>
)

const shapes = { good: Good, busy: Busy, warn: Warning, bad: Bad, off: Off }

/** How a {@link Status} looks: each tone has a shape of its own, besides its colour. */
export type Tone = keyof typeof shapes

/** A state in a word, with a shape. */
export const Status = ({ tone, children }: { tone: Tone; children: ComponentChildren }) => (
  <span class={`status ${tone}`}>
    <Icon icon={shapes[tone]} size={14} />
    {children}
  </span>
)

/** Names and values; those that are undefined or false are left out. */
export const Facts = ({ facts }: { facts: readonly (readonly [string, ComponentChildren])[] }) => (
  <dl class="facts">
    {facts.map(
      ([name, value]) =>
        value !== undefined &&
        value !== false && (
          <Fragment key={name}>
            <dt>{name}</dt>
            <dd>{value}</dd>
          </Fragment>
        ),
    )}
  </dl>
)
