import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { published } from '../support/pack.js'

const release = process.env['RELEASE']
if (!release) throw new Error('Run `npm run release`: it makes the tarballs that these tests check.')

/** Where `.ci/release.mjs` has put the tarballs and the SBOM. */
export const folder: string = release

/** An empty project with all tarballs installed. */
export const project = join(folder, 'project')

const files = readdirSync(folder)

/** The published packages, with the path of the tarball and the folder of the installed package. */
export const packages = published.map((name) => {
  const tarball = files.find((file) => file.startsWith(`turnpike-${name}-`))
  if (!tarball) throw new Error(`${name} is not packed`)
  return { name, tarball: join(folder, tarball), installed: join(project, 'node_modules/@turnpike', name) }
})
