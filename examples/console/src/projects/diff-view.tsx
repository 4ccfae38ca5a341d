import './diff.css'
import { count, LongText, visible } from '@turnpike/ui'
import { OrElse, useBlocks, useReader } from '@turnpike/ui/markdown'
import type { Block } from '@turnpike/ui/markdown/document'
import type { Mark } from '@turnpike/ui/markdown/leaves'
import type { ComponentChildren } from 'preact'
import { createContext, h } from 'preact'
import { useContext, useMemo, useState } from 'preact/hooks'
import type { Diff, Line, Part, Piece } from './diff.js'
import { diff } from './diff.js'

/** Blocks, lines or sentences beside a change that are shown; those between can be opened. */
const CONTEXT = 1

/** Whether what both texts have is shown at once. */
const IsWhole = createContext(false)

type Reader = NonNullable<ReturnType<typeof useReader>>

/** What both texts have: that which is beside a change, and the rest when it is asked for. */
function Same<T>({
  items,
  isFirst,
  isLast,
  name,
  children,
}: {
  items: readonly T[]
  isFirst: boolean
  isLast: boolean
  /** Of what is hidden; absent within a line. */
  name?: string
  children: (items: readonly T[]) => ComponentChildren
}) {
  const [isAskedFor, setAskedFor] = useState(false)
  const isOpen = useContext(IsWhole) || isAskedFor
  const head = isFirst ? 0 : CONTEXT
  const tail = isLast ? 0 : CONTEXT
  const hidden = items.length - head - tail
  if (isOpen || hidden <= 1) return <>{children(items)}</>
  return (
    <>
      {children(items.slice(0, head))}
      <button
        type="button"
        class={`quiet ${name ? 'same' : 'same-sentences'}`}
        aria-label={name ? undefined : `Show ${hidden} sentences that are the same`}
        onClick={() => setAskedFor(true)}
      >
        {name ? `Show ${count(hidden)} ${name} that are the same` : '…'}
      </button>
      {children(items.slice(items.length - tail))}
    </>
  )
}

/** Runs of items that are the same, and of others. */
function grouped<T>(items: readonly T[], isSame: (item: T) => boolean): { same: boolean; items: T[] }[] {
  const groups: { same: boolean; items: T[] }[] = []
  for (const item of items) {
    const same = isSame(item)
    if (groups.at(-1)?.same === same) groups.at(-1)!.items.push(item)
    else groups.push({ same, items: [item] })
  }
  return groups
}

const Pieces = ({ pieces, Link }: { pieces: readonly Piece[]; Link: Reader['Link'] }) => (
  <>
    {pieces.map(({ text, marks, change }) => {
      const marked = marks.reduceRight<ComponentChildren>(
        (within, { tag, href }: Mark) => (tag === 'a' ? <Link href={href!}>{within}</Link> : h(tag, null, within)),
        text,
      )
      return change ? h(change === 'removed' ? 'del' : 'ins', null, marked) : marked
    })}
  </>
)

const isSameSentence = (pieces: readonly Piece[]): boolean => pieces.every(({ change }) => !change)
const isSameLine = ({ sentences }: Line): boolean => sentences.every(isSameSentence)

/** A paragraph, an item, a row or a line of code, with what changed in it. */
function LineView({ line: { leaf, sentences }, Link }: { line: Line; Link: Reader['Link'] }) {
  const { kind, depth, marker } = leaf
  const pieces = sentences.flat()
  const [first] = pieces
  // A line all of which is new or gone, or one that has changes.
  const change = pieces.every((piece) => piece.change === first?.change) ? first?.change : 'changed'
  const groups = grouped(sentences, isSameSentence)
  const content = groups.map(({ same, items }, i) =>
    same ? (
      <Same key={i} items={items} isFirst={i === 0} isLast={i === groups.length - 1}>
        {(items) => <Pieces pieces={items.flat()} Link={Link} />}
      </Same>
    ) : (
      <Pieces key={i} pieces={items.flat()} Link={Link} />
    ),
  )
  return (
    <div class={`line ${change ?? ''}`} data-kind={kind} style={kind === 'heading' ? {} : { '--depth': depth }}>
      {kind === 'heading' ? (
        h(`h${Math.min(6, depth + 2)}`, { class: `h${depth}` }, content)
      ) : kind === 'rule' ? (
        <hr />
      ) : (
        <p>
          {marker !== undefined && <span class="marker">{marker}</span>}
          {content}
        </p>
      )}
    </div>
  )
}

function Changes({ parts, reader: { shown, Link } }: { parts: readonly Part[]; reader: Reader }) {
  return (
    <>
      {parts.map((part, i) => {
        if ('same' in part)
          return (
            <Same<Block> key={i} items={part.same} isFirst={i === 0} isLast={i === parts.length - 1} name="parts">
              {(blocks) =>
                blocks.map((block) => (
                  <div class="line" data-kind={block.tokens[0]?.type === 'heading_open' ? 'heading' : undefined}>
                    <div class="markdown">{shown(block)}</div>
                  </div>
                ))
              }
            </Same>
          )
        const groups = grouped(part.lines, isSameLine)
        return groups.map(({ same, items }, j) =>
          same ? (
            <Same key={`${i} ${j}`} items={items} isFirst={j === 0} isLast={j === groups.length - 1} name="lines">
              {(lines) => lines.map((line) => <LineView line={line} Link={Link} />)}
            </Same>
          ) : (
            items.map((line) => <LineView line={line} Link={Link} />)
          ),
        )
      })}
    </>
  )
}

function summary({ parts, changed, removed, added }: Diff, isSameSource: boolean): string {
  if (changed + removed + added === 0)
    return isSameSource ? 'Nothing differs.' : 'They read the same; only their source differs.'
  const counts = (['changed', 'removed', 'added'] as const)
    .map((what) => [{ changed, removed, added }[what], what] as const)
    .filter(([number]) => number > 0)
    .map(([number, what]) => `${count(number)} ${what}`)
  return `Sentences: ${counts.join(', ')}.${parts ? '' : ' They are too many to mark: here are both texts.'}`
}

interface Compared {
  before: string
  after: string
  names: readonly [string, string]
}

const Whole = ({ name, text }: { name: ComponentChildren; text: string }) => (
  <div>
    <p class="small">{name}</p>
    <p class="text">
      <LongText text={text} />
    </p>
  </div>
)

/** Both texts, whole. */
const Both = ({ before, after, names: [left, right] }: Compared) => (
  <div class="pair">
    <Whole name={<del>{left}</del>} text={before} />
    <Whole name={<ins>{right}</ins>} text={after} />
  </div>
)

function Comparison({ isSame, ...texts }: Compared & { isSame: boolean }) {
  const { before, after, names } = texts
  const reader = useReader()
  const [a, b] = [useBlocks(before), useBlocks(after)]
  const isRead = a?.isWhole && b?.isWhole
  const found = useMemo(
    () => (reader && isRead ? diff(a.blocks, b.blocks, reader.leavesOf) : undefined),
    [reader, isRead, a?.blocks, b?.blocks],
  )
  if (!found) return <p class="muted">Comparing…</p>
  return (
    <div class="stack">
      <p class="small muted">
        <del>{names[0]}</del> → <ins>{names[1]}</ins>. {summary(found, isSame)}
      </p>
      {found.parts ? (
        <div class="diff markdown shows-all" role="group" aria-label={names.join(' and ')}>
          <Changes parts={found.parts} reader={reader!} />
        </div>
      ) : (
        <Both {...texts} />
      )}
    </div>
  )
}

/**
 * How a text became another, as one text with what was taken off and put in.
 * @param isWhole whether what both texts have is shown at once, as where somebody else may have written both
 */
export function DiffView({ before, after, names, isWhole = false }: Compared & { isWhole?: boolean }) {
  const shown = useMemo(() => ({ before: visible(before), after: visible(after) }), [before, after])
  return (
    <OrElse rest={<Both {...shown} names={names} />}>
      <IsWhole.Provider value={isWhole}>
        <Comparison {...shown} names={names} isSame={before === after} />
      </IsWhole.Provider>
    </OrElse>
  )
}
