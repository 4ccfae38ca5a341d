import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'

/** The folder of the package that a bundled file is of; undefined for our own. */
const folderOf = (path) => /^.*\/node_modules\/(?:@[^/]+\/)?[^/]+/.exec(resolve(path))?.[0]

/**
 * Writes `THIRD-PARTY-NOTICES.txt`: name, version and licence of each package of others that a bundle contains, as their licences demand.
 * @param {string[]} inputs the files of the bundle, as esbuild's metafile lists them
 * @param {string} outdir where it is written
 */
export function writeLicenses(inputs, outdir) {
  const folders = new Set(inputs.map(folderOf).filter((folder) => folder !== undefined))
  const texts = [...folders].map((folder) => {
    const { name, version, license } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'))
    const file = readdirSync(folder).find((one) => /^licen[cs]e/i.test(one))
    const text = file === undefined ? `Licence: ${license}` : readFileSync(join(folder, file), 'utf8').trim()
    return `${name} ${version}\n\n${text}\n`
  })
  // tsup makes the folder after the plugins have run.
  mkdirSync(outdir, { recursive: true })
  writeFileSync(join(outdir, 'THIRD-PARTY-NOTICES.txt'), texts.toSorted().join(`\n${'-'.repeat(78)}\n\n`))
}
