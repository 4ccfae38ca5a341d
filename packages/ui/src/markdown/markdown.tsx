import './markdown.css'
import { signal } from '@preact/signals'
import type { ComponentChildren, VNode } from 'preact'
import { useEffect, useErrorBoundary, useMemo, useReducer, useRef, useState } from 'preact/hooks'
import { Copy } from '../components/controls.js'
import { LongText } from '../components/long-text.js'
import { visible } from '../visible.js'
import type { Block, MarkdownDocument } from './document.js'

/** How long a document is read at once, in milliseconds: the page answers meanwhile. */
const STEP_MS = 10

/** Documents that are kept after they were shown: what was written, and is now shown elsewhere, is there at once. */
const MOST_KEPT = 8

type Reader = typeof import('./reader.js')
const reader = signal<Reader | undefined>(undefined)
let loading: Promise<void> | undefined

/** The parser, which is no part of the first view; undefined until it is loaded. Pages that will show Markdown call it early. */
export function useReader(): Reader | undefined {
  loading ??= import('./reader.js').then(
    ({ MarkdownDocument, sourceOf, leavesOf, partsOf, Link, shown, shownPart }) =>
      void (reader.value = { MarkdownDocument, sourceOf, leavesOf, partsOf, Link, shown, shownPart }),
    () => void (loading = undefined),
  )
  return reader.value
}

const kept: MarkdownDocument[] = []

/** The blocks of a text, as far as they are read: those of a long text come in steps. Undefined until the parser is loaded. */
export function useBlocks(text: string, isGrowing = false): { blocks: readonly Block[]; isWhole: boolean } | undefined {
  const reader = useReader()
  const document = useRef<MarkdownDocument | undefined>(undefined)
  const [step, next] = useReducer<number, void>((count) => count + 1, 0)
  const read = useMemo(() => {
    if (!reader) return undefined
    const source = reader.sourceOf(text)
    if (!document.current?.isOf(source)) {
      const at = kept.findLastIndex((one) => one.isOf(source))
      document.current = at < 0 ? new reader.MarkdownDocument() : kept.splice(at, 1)[0]!
    }
    const isWhole = document.current.read(source, isGrowing, STEP_MS)
    return { blocks: document.current.blocks, isWhole }
  }, [reader, text, isGrowing, step])
  useEffect(() => {
    if (read?.isWhole !== false) return
    const timer = setTimeout(next)
    return () => clearTimeout(timer)
  }, [read])
  useEffect(
    () => () => {
      if (document.current && kept.push(document.current) > MOST_KEPT) kept.shift()
    },
    [],
  )
  return read
}

/** Shows what it has or, where that cannot be shown, the rest: a text whose view fails is shown as its source, and not in part. */
export function OrElse({ rest, children }: { rest: ComponentChildren; children: ComponentChildren }) {
  const [error] = useErrorBoundary((error) => console.error(error))
  return <>{error === undefined ? children : rest}</>
}

/** The blocks of a text, its source until they can be shown. */
function Blocks({ text, source, isGrowing, kind }: { text: string; source: VNode; isGrowing: boolean; kind: string }) {
  const reader = useReader()
  const read = useBlocks(text, isGrowing)
  if (!reader || !read) return source
  return <div class={`document ${kind}`}>{reader.partsOf(read.blocks).map(reader.shownPart)}</div>
}

/**
 * A text of people or models as Markdown means it (CommonMark, tables, tasks, strikethrough): no HTML, no request to other hosts.
 * @param isGrowing whether it is being written
 * @param showsAll whether addresses of links and characters that are not seen are shown, and code has no lines that go on outside, so that nobody
 *   approves what they have not seen
 * @param hasTools whether its source can be shown and copied; default: once it is written
 */
export function Markdown({
  text: written,
  isGrowing = false,
  showsAll = false,
  hasTools = !isGrowing,
}: {
  text: string
  isGrowing?: boolean
  showsAll?: boolean
  hasTools?: boolean
}) {
  const text = useMemo(() => (showsAll ? visible(written) : written), [written, showsAll])
  const [isSource, setSource] = useState(false)
  const source = (
    <p class={`text ${isSource ? 'mono' : ''}`}>
      <LongText text={text} />
    </p>
  )
  const kind = `${isGrowing ? 'growing' : ''} ${showsAll ? 'shows-all' : ''}`
  return (
    <div class="with-tools">
      {isSource ? (
        source
      ) : (
        <OrElse rest={source}>
          <Blocks text={text} source={source} isGrowing={isGrowing} kind={kind} />
        </OrElse>
      )}
      {hasTools && (
        <div class="tools">
          <button type="button" class="quiet" aria-pressed={isSource} onClick={() => setSource(!isSource)}>
            Source
          </button>
          <Copy text={written} class="quiet" />
        </div>
      )}
    </div>
  )
}
