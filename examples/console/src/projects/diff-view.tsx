import './diff.css'
import { count } from '@turnpike/ui'
import { useMemo, useState } from 'preact/hooks'
import type { Diff, Piece } from './diff.js'
import { diff, MOST_LINES } from './diff.js'

/** Lines around a change that are shown; those between can be opened. */
const CONTEXT = 3

const Line = ({ pieces, as: Changed }: { pieces: readonly Piece[]; as: 'del' | 'ins' }) => (
  <p>{pieces.map(({ text, changed }) => (changed ? <Changed>{text}</Changed> : text))}</p>
)

/** Lines of one side that the other one does not have. */
const Side = ({ kind, lines }: { kind: 'removed' | 'added'; lines: readonly Piece[][] }) => (
  <div class={`${lines.length > 0 ? kind : 'nothing'} ${kind === 'added' ? 'right' : ''}`}>
    {lines.length > 0 && <span class="visually-hidden">{kind === 'removed' ? 'Removed:' : 'Added:'}</span>}
    {lines.map((pieces) => (
      <Line pieces={pieces} as={kind === 'removed' ? 'del' : 'ins'} />
    ))}
  </div>
)

/** Lines that both texts have: the first and last of them, and the others when they are asked for. */
function Same({ lines, isFirst, isLast }: { lines: readonly string[]; isFirst: boolean; isLast: boolean }) {
  const [isOpen, setOpen] = useState(false)
  const head = isFirst ? 0 : CONTEXT
  const tail = isLast ? 0 : CONTEXT
  const hidden = lines.length - head - tail
  if (isOpen || hidden <= 1) return <Both lines={lines} />
  return (
    <>
      <Both lines={lines.slice(0, head)} />
      <button type="button" class="quiet same-lines" onClick={() => setOpen(true)}>
        Show {count(hidden)} lines that are the same
      </button>
      <Both lines={lines.slice(lines.length - tail)} />
    </>
  )
}

/** Lines that both texts have. There may be many, so that they are one paragraph. */
function Both({ lines }: { lines: readonly string[] }) {
  if (lines.length === 0) return null
  const text = lines.map((line) => `${line}\n`).join('')
  return (
    <>
      <div>
        <p>{text}</p>
      </div>
      <div class="twice right" aria-hidden="true">
        <p>{text}</p>
      </div>
    </>
  )
}

const summary = ({ removed, added, isCut }: Diff): string => {
  if (removed + added === 0) return 'No line differs.'
  const lines = `Lines: ${count(removed)} removed, ${count(added)} added.`
  return isCut ? `${lines} Here are the first ${count(MOST_LINES)} of them.` : lines
}

/** Two texts side by side with what differs; on a phone, one below the other. */
export function DiffView({
  before,
  after,
  names: [left, right],
}: {
  before: string
  after: string
  names: readonly [string, string]
}) {
  const found = useMemo(() => diff(before, after), [before, after])
  const [isPlain, setPlain] = useState(false)
  const { blocks, isCut } = found
  return (
    <div class="stack">
      <div class="spread">
        <p class="small muted">{summary(found)}</p>
        {isCut && (
          <button type="button" aria-pressed={isPlain} onClick={() => setPlain(!isPlain)}>
            Show whole texts
          </button>
        )}
      </div>
      <div class="diff mono" role="group" aria-label={`${left} and ${right}`}>
        <div class="diff-name removed small">
          <p>{left}</p>
        </div>
        <div class="diff-name added right small">
          <p>{right}</p>
        </div>
        {isPlain ? (
          <>
            <div>
              <p>{before}</p>
            </div>
            <div class="right">
              <p>{after}</p>
            </div>
          </>
        ) : (
          blocks.map((block, i) =>
            'same' in block ? (
              <Same key={i} lines={block.same} isFirst={i === 0} isLast={i === blocks.length - 1} />
            ) : (
              <>
                <Side kind="removed" lines={block.removed} />
                <Side kind="added" lines={block.added} />
              </>
            ),
          )
        )}
      </div>
    </div>
  )
}
