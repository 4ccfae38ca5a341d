import { FileInput, Icon, icons } from '@turnpike/ui'
import { useRef, useState } from 'preact/hooks'

/** The pictures of a message. Those at other hosts are links, as the page asks nothing of them. */
export function Pictures({
  pictures,
  isAdding,
  onFiles,
  onChange,
}: {
  pictures: readonly string[]
  /** Whether the fields are shown that add one. */
  isAdding: boolean
  onFiles: (files: readonly File[]) => void
  onChange: (pictures: readonly string[]) => void
}) {
  const upload = useRef<HTMLInputElement>(null)
  const [url, setUrl] = useState('')
  const isUrl = /^https?:\/\/\S+$/.test(url.trim())
  const add = (): void => {
    if (!isUrl) return
    onChange([...pictures, url.trim()])
    setUrl('')
  }
  return (
    <>
      {isAdding && (
        <div class="add-picture">
          <input
            aria-label="URL of a picture"
            type="url"
            placeholder="https://…"
            value={url}
            onInput={(event) => setUrl(event.currentTarget.value)}
            onKeyDown={(event) => {
              if (event.key === 'Enter' && !event.ctrlKey && !event.metaKey) add()
            }}
          />
          <button type="button" aria-disabled={!isUrl} onClick={add}>
            Add
          </button>
          <button type="button" onClick={() => upload.current!.click()}>
            Upload
          </button>
          <FileInput input={upload} accept="image/*" label="Upload pictures" onFiles={onFiles} />
          <span class="small muted">Or paste a picture into the message, or drop it there.</span>
        </div>
      )}
      {pictures.length > 0 && (
        <ul class="pictures" aria-label="Pictures">
          {pictures.map((picture, i) => (
            <li key={`${i} ${picture.length}`}>
              {picture.startsWith('data:') ? (
                <img src={picture} alt={`Picture ${i + 1}`} />
              ) : (
                <span class="small break">{picture}</span>
              )}
              <button
                type="button"
                class="quiet"
                aria-label={`Remove picture ${i + 1}`}
                onClick={() => onChange(pictures.filter((_, at) => at !== i))}
              >
                <Icon icon={icons.Close} size={14} />
              </button>
            </li>
          ))}
        </ul>
      )}
    </>
  )
}
