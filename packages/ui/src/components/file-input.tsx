import type { RefObject } from 'preact'

/** A field for files that a button opens, by a click on `input`. @param accept which, as the attribute has them; default all */
export const FileInput = ({
  input,
  accept,
  label = 'Files',
  onFiles,
}: {
  input: RefObject<HTMLInputElement | null>
  accept?: string
  label?: string
  onFiles: (files: File[]) => void
}) => (
  <input
    ref={input}
    type="file"
    accept={accept}
    multiple
    hidden
    aria-label={label}
    onChange={({ currentTarget }) => {
      onFiles([...currentTarget.files!])
      // The same file may be chosen again.
      currentTarget.value = ''
    }}
  />
)
