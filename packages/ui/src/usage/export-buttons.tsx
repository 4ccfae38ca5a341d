import { saveFile } from '../save-file.js'
import type { Exported } from './exported.js'
import { exportName, usageCsv, usageJson } from './exported.js'

/** Saves what is shown as a file. @param isCut whether rows are missing */
export function ExportButtons({ exported, isCut = false }: { exported: Exported | undefined; isCut?: boolean }) {
  const save = (ending: string, type: string, textOf: (exported: Exported) => string) => () =>
    saveFile(`${exportName(exported!, isCut)}.${ending}`, type, textOf(exported!))
  const isEmpty = !exported || exported.rows.length === 0
  return (
    <div class="row">
      <button type="button" disabled={isEmpty} onClick={save('csv', 'text/csv', usageCsv)}>
        CSV
      </button>
      <button type="button" disabled={isEmpty} onClick={save('json', 'application/json', usageJson)}>
        JSON
      </button>
    </div>
  )
}
