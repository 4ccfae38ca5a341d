import { readdirSync, readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { Ajv } from 'ajv'
import { expect, it } from 'vitest'
import { manifestOf, treeOf } from '../support/dependency-tree.js'
import { folder, packages } from './release.js'

interface Sbom {
  specVersion: string
  components: { name: string; version: string; purl: string; hashes?: object[]; licenses?: object[] }[]
  dependencies: { ref: string; dependsOn: string[] }[]
}
const text = readFileSync(join(folder, 'sbom.cdx.json'), 'utf8')
const sbom = JSON.parse(text) as Sbom

const require = createRequire(import.meta.url)
/** The JSON Schemas of the standard. */
const schemas = join(require.resolve('@cyclonedx/cyclonedx-library/package.json'), '../res/schema')

it('is valid CycloneDX', () => {
  const schema = (name: string) =>
    JSON.parse(readFileSync(join(schemas, `${name}.SNAPSHOT.schema.json`), 'utf8')) as object
  // Addresses are compared as text: what is checked is that each field is there, and of the right form.
  const formats = { 'date-time': true, 'idn-email': true, 'iri-reference': true, string: true, uri: true } as const
  const ajv = new Ajv({ strict: false, formats })
  // The names that the standard's schema refers to them by.
  for (const name of ['spdx', 'jsf-0.82'])
    ajv.addSchema(schema(name), `http://cyclonedx.org/schema/${name}.SNAPSHOT.schema.json`)

  const validate = ajv.compile(schema(`bom-${sbom.specVersion}`))
  expect(validate(sbom) || validate.errors).toBe(true)
  expect(validate({ ...sbom, bomFormat: 'other' })).toBe(false)
})

it('lists every package of the tree with its version, hash and licence', () => {
  const trees = packages.flatMap(({ installed }) => treeOf(installed).map(manifestOf))
  const installed = trees.map(({ name, version }) => `${name}@${version}`)
  const listed = sbom.components.map(({ name, version }) => `${name}@${version}`)
  expect(listed.toSorted()).toEqual([...new Set(installed)].toSorted())
  const purls = sbom.components.map(({ purl }) => purl)
  expect(purls.filter((purl) => !/^pkg:npm\/[\w%./-]+@[\d.]+$/.test(purl))).toEqual([])
  expect(sbom.components.filter(({ hashes }) => hashes?.length !== 1)).toEqual([])
  expect(sbom.components.filter(({ licenses }) => !licenses?.length).map(({ name }) => name)).toEqual([])
})

it('names no place of the machine that made it', () => {
  expect(text).not.toMatch(/file:|\.tgz|127\.0\.0\.1|localhost/)
  expect(readdirSync(folder).filter((file) => file.endsWith('.tgz'))).toHaveLength(packages.length)
})
