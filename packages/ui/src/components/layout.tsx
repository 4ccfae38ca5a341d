import type { ComponentChildren } from 'preact'
import { Fragment } from 'preact'
import { useEffect, useRef } from 'preact/hooks'
import { Bad, Busy, Good, Off, Warning } from '../icons.js'
import { useTitle } from '../title.js'
import { Icon } from './icon.js'
import type { Shape } from './skeleton.js'
import { Skeleton } from './skeleton.js'

/** What a page and a panel have. */
interface Titled {
  title: string
  /** What can be done, beside the title. */
  actions?: ComponentChildren
  children: ComponentChildren
}

/** Whether a page was shown before: the first one leaves the focus where the browser puts it. */
let opened = false

/**
 * One page: its title, which gets the focus when the page is opened by a link, and what can be done.
 * @param trail the names and links of what the page is in, the outermost first; default none
 * @param class further classes; default none
 */
export function Page({
  title,
  trail,
  class: more = '',
  actions,
  children,
}: Titled & { trail?: readonly (readonly [name: string, link: string])[]; class?: string }) {
  const heading = useRef<HTMLHeadingElement>(null)
  useTitle(title, 0)
  useEffect(() => {
    if (opened) heading.current!.focus()
    opened = true
  }, [])
  return (
    <div class={`page ${more}`}>
      <div class="page-head">
        {trail && (
          <nav class="trail small" aria-label="Breadcrumb">
            <ol>
              {trail.map(([name, link]) => (
                <li key={link}>
                  <a href={link}>{name}</a>
                </li>
              ))}
            </ol>
          </nav>
        )}
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

/** What is said where there is nothing yet, and what to do next. @param shape of what will be there, which is drawn faintly; default none */
export const Empty = ({ title, shape, children }: { title: string; shape?: Shape; children?: ComponentChildren }) => (
  <>
    {shape && <Skeleton shape={shape} still />}
    <div class="empty">
      <p>{title}</p>
      {children}
    </div>
  </>
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
