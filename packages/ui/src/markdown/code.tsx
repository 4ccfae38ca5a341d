import { signal } from '@preact/signals'
import type { ComponentChildren } from 'preact'
import { useEffect, useState } from 'preact/hooks'
import { Copy } from '../components/controls.js'
import { piecesOf } from '../pieces.js'

/** Most characters of code that is highlighted. */
const MOST_HIGHLIGHTED = 100_000

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

/** A piece of code, plain at first. What is added to one that is highlighted is plain until it is, too. */
function Piece({ code, language }: { code: string; language: string }) {
  const highlight = language === '' ? undefined : highlighterOf()
  const [done, setDone] = useState<{ code: string; content: ComponentChildren }>({ code: '', content: [] })
  useEffect(() => {
    if (!highlight) return
    // Each in a task of its own, so that the page answers between them.
    const timer = setTimeout(() => setDone({ code, content: highlight(code, language) ?? code }))
    return () => clearTimeout(timer)
  }, [highlight, code, language])
  return code.startsWith(done.code) ? (
    <>
      {done.content}
      {code.slice(done.code.length)}
    </>
  ) : (
    <>{code}</>
  )
}

/** Code with its language, and a button that copies it. @param copies what is copied in its place */
export function CodeBlock({ code, language, copies = code }: { code: string; language: string; copies?: string }) {
  const known = code.length > MOST_HIGHLIGHTED ? '' : language.toLowerCase()
  return (
    <div class="code-block">
      <div class="code-head muted">
        <span>{language || 'code'}</span>
        <Copy text={copies} class="quiet" />
      </div>
      <pre tabIndex={0} aria-label={`Code${language && ` in ${language}`}`}>
        <code>
          {piecesOf(code).map((piece, i) => (
            <span key={i} class="piece">
              <Piece code={piece} language={known} />
            </span>
          ))}
        </code>
      </pre>
    </div>
  )
}
