import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach } from 'vitest'
import type { Variables } from '../../packages/turnpike/src/config/load.js'
import { loadConfig } from '../../packages/turnpike/src/config/load.js'

/** A new folder for each test, with a configuration. */
export function configFolder() {
  let folder: string
  beforeEach(() => void (folder = mkdtempSync(join(tmpdir(), 'turnpike-config-'))))
  afterEach(() => rmSync(folder, { recursive: true }))
  const pathOf = (name: string): string => join(folder, name)
  const load = (environment: Variables = {}) => loadConfig(environment, folder)
  return {
    pathOf,
    write: (name: string, text: string): void => writeFileSync(pathOf(name), text),
    load,
    /** What is wrong with a file, line by line, without the line that names it. */
    faultsOf: (environment: Variables = {}): Promise<string[]> =>
      load(environment).then(
        () => [],
        (error: { faults: string[] }) => [...error.faults],
      ),
  }
}
