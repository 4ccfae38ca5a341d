import { ErrorNotice, LongText, useData } from '@turnpike/ui'
import { Markdown } from '@turnpike/ui/markdown'
import { useEffect, useState } from 'preact/hooks'
import type { FileKind } from './file-kinds.js'
import { isHere, kindOf, MOST_SHOWN } from './file-kinds.js'
import type { UserFile } from './file-drawer.js'

/** What is needed of a file to show it. */
export type ShownFile = Pick<UserFile, 'id' | 'display_name' | 'mime_type' | 'size_bytes' | 'url'>

/** Reads what is shown of a file: as a blob, since its URL lets anybody read it who sees it. */
export async function readShown({ url }: Pick<UserFile, 'url'>, most: number, signal: AbortSignal): Promise<Blob> {
  const response = await fetch(url, { headers: { range: `bytes=0-${most - 1}` }, signal })
  // An empty file has no such range.
  if (response.status === 416) return new Blob([])
  if (!response.ok) throw new Error('The file cannot be read.')
  return response.blob()
}

/** A URL of a blob, for as long as the component is there. */
export function useBlobUrl(blob: Blob | undefined): string | undefined {
  const [url, setUrl] = useState<string>()
  useEffect(() => {
    if (!blob) return
    const made = URL.createObjectURL(blob)
    setUrl(made)
    return () => URL.revokeObjectURL(made)
  }, [blob])
  return url
}

function Picture({ blob, name }: { blob: Blob; name: string }) {
  const url = useBlobUrl(blob)
  const [isBroken, setBroken] = useState(false)
  if (isBroken) return <p class="muted">This is no picture that the browser can show.</p>
  return url ? (
    <img class="preview" src={url} alt={`Preview of ${name}`} onError={() => setBroken(true)} />
  ) : (
    <div class="preview" />
  )
}

function Text({ blob, kind, isCut }: { blob: Blob; kind: FileKind; isCut: boolean }) {
  const { value } = useData(() => blob.text(), [blob])
  if (value === undefined) return null
  return (
    <div class="preview-text" tabIndex={0} role="region" aria-label="Preview">
      {kind === 'markdown' ? (
        <Markdown text={value} hasTools={false} />
      ) : (
        <pre class="text">
          <LongText text={value} />
        </pre>
      )}
      {isCut && <p class="small muted">This is the beginning. Download the file to read all of it.</p>}
    </div>
  )
}

function Shown({ file, kind }: { file: ShownFile; kind: FileKind }) {
  const most = MOST_SHOWN[kind]
  const { value, error, again } = useData((signal) => readShown(file, most, signal), [file.id])
  if (!value) return error === undefined ? <div class="preview" /> : <ErrorNotice error={error} again={again} />
  return kind === 'picture' ? (
    <Picture blob={value} name={file.display_name} />
  ) : (
    <Text blob={value} kind={kind} isCut={file.size_bytes > most} />
  )
}

/** A picture or a text, in place; nothing of other files, and of pictures that are too large. */
export function Preview({ file }: { file: ShownFile }) {
  const kind = kindOf(file)
  if (!kind || !isHere(file)) return null
  if (kind === 'picture' && file.size_bytes > MOST_SHOWN.picture)
    return <p class="muted">The picture is too large to be shown here.</p>
  return <Shown file={file} kind={kind} />
}
