import { useMemo, useState } from 'preact/hooks'
import type { Block, Piece } from './diff.js'
import { diff } from './diff.js'

/** Lines around a change that are shown; those between can be opened. */
const CONTEXT = 3

const Line = ({ pieces, as: Changed }: { pieces: readonly Piece[]; as: 'del' | 'ins' }) => (
  <p>{pieces.map(({ text, changed }) => (changed ? <Changed>{text}</Changed> : text))}</p>
)

/** Lines of one side that the other one does not have. */
const Side = ({ kind, lines }: { kind: 'removed' | 'added'; lines: readonly Piece[][] }) => (
  <div class={`${lines.length > 0 ? kind : 'nothing'} ${kind === 'added' ? 'right' : ''}`}>
    {lines.length > 0 && <span class="hidden">{kind === 'removed' ? 'Removed:' : 'Added:'}</span>}
    {lines.map((pieces) => (
      <Line pieces={pieces} as={kind === 'removed' ? 'del' : 'ins'} />
    ))}
  </div>
)

/** Lines that both texts have: the first and last of them, and the others when they are asked for. */
function Same({ lines, isFirst, isLast }: { lines: readonly string[]; isFirst: boolean; isLast: boolean }) {
  const [isOpen, open] = useState(false)
  const head = isFirst ? 0 : CONTEXT
  const tail = isLast ? 0 : CONTEXT
  const hidden = lines.length - head - tail
  if (isOpen || hidden <= 1) return <Both lines={lines} />
  return (
    <>
      <Both lines={lines.slice(0, head)} />
      <button type="button" class="quiet same-lines" onClick={() => open(true)}>
        Show {hidden} lines that are the same
      </button>
      <Both lines={lines.slice(lines.length - tail)} />
    </>
  )
}

const Both = ({ lines }: { lines: readonly string[] }) =>
  lines.length === 0 ? null : (
    <>
      <div>
        {lines.map((line) => (
          <p>{line}</p>
        ))}
      </div>
      <div class="twice right" aria-hidden="true">
        {lines.map((line) => (
          <p>{line}</p>
        ))}
      </div>
    </>
  )

const counts = (blocks: readonly Block[]): string => {
  const of = (side: 'removed' | 'added'): number =>
    blocks.reduce((sum, block) => sum + ('same' in block ? 0 : block[side].length), 0)
  const [removed, added] = [of('removed'), of('added')]
  return removed + added === 0 ? 'No line differs' : `${removed} removed, ${added} added`
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
  const blocks = useMemo(() => diff(before, after), [before, after])
  return (
    <div class="stack">
      <p class="small muted">Lines: {counts(blocks)}.</p>
      <div class="diff mono" role="group" aria-label={`${left} and ${right}`}>
        <div class="diff-name removed small">
          <p>{left}</p>
        </div>
        <div class="diff-name added right small">
          <p>{right}</p>
        </div>
        {blocks.map((block, i) =>
          'same' in block ? (
            <Same key={i} lines={block.same} isFirst={i === 0} isLast={i === blocks.length - 1} />
          ) : (
            <>
              <Side kind="removed" lines={block.removed} />
              <Side kind="added" lines={block.added} />
            </>
          ),
        )}
      </div>
    </div>
  )
}
