import { bytes, ErrorNotice, Panel } from '@turnpike/ui'
import type { Upload } from './uploads.js'
import { cancel, retry, uploads } from './uploads.js'

const stateText = ({ state, sent, file }: Upload): string => {
  if (state === 'waiting') return 'Waiting'
  if (state === 'storing') return 'Sent; the server stores it'
  if (state === 'failed') return 'Failed'
  return `${bytes(sent)} of ${bytes(file.size)}`
}

/** The files on their way, each with its progress. */
export function UploadList() {
  if (uploads.value.length === 0) return null
  return (
    <div class="upload-list">
      <Panel title="Uploads">
        <ul class="uploads">
          {uploads.value.map((one) => (
            <li key={one.id} class="stack">
              <div class="spread">
                <span class="break">{one.file.name}</span>
                <div class="row">
                  <span class="muted small number">{stateText(one)}</span>
                  {one.state === 'failed' && (
                    <button type="button" onClick={() => retry(one.id)}>
                      Try again
                    </button>
                  )}
                  <button type="button" class="quiet" onClick={() => cancel(one.id)}>
                    {one.state === 'failed' ? 'Dismiss' : 'Cancel'}
                    <span class="visually-hidden"> {one.file.name}</span>
                  </button>
                </div>
              </div>
              {one.state === 'failed' ? (
                <ErrorNotice error={one.error} />
              ) : (
                <progress
                  class="progress"
                  aria-label={`Upload of ${one.file.name}`}
                  max={one.file.size || 1}
                  value={one.sent}
                />
              )}
            </li>
          ))}
        </ul>
      </Panel>
    </div>
  )
}
