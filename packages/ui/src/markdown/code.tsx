import { signal } from '@preact/signals'
import type { ComponentChildren } from 'preact'
import { useMemo } from 'preact/hooks'
import { Copy } from '../components/controls.js'

/** Most characters of code that is highlighted: all of it is read again while it grows. */
const MOST_HIGHLIGHTED = 10_000

/** Up to 2,000 characters, of which none is cut in two. */
const PIECE = /[^]{1,2000}/gu

/** Code in pieces, so that only the last one changes while it grows. */
const inPieces = (code: string): ComponentChildren =>
  code.match(PIECE)?.map((piece, i) => <span key={i}>{piece}</span>)

type Highlighter = typeof import('./highlight.js').highlight
const highlighter = signal<Highlighter | undefined>(undefined)
let loading: Promise<void> | undefined

/** The highlighter, which is loaded where code is first shown; without it code is plain. */
function highlighterOf(): Highlighter | undefined {
  loading ??= import('./highlight.js').then(
    ({ highlight }) => void (highlighter.value = highlight),
    () => void (loading = undefined),
  )
  return highlighter.value
}

/** Code with its language, and a button that copies it. */
export function CodeBlock({ code, language }: { code: string; language: string }) {
  const highlight = language !== '' && code.length <= MOST_HIGHLIGHTED ? highlighterOf() : undefined
  const content = useMemo(() => highlight?.(code, language.toLowerCase()) ?? inPieces(code), [code, language, highlight])
  return (
    <div class="code-block">
      <div class="code-head muted">
        <span>{language || 'code'}</span>
        <Copy text={code} class="quiet" />
      </div>
      <pre tabIndex={0} aria-label={`Code${language && ` in ${language}`}`}>
        <code>{content}</code>
      </pre>
    </div>
  )
}
