import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { nameOf, published, tarballOf } from '../support/pack.js'

const release = process.env['RELEASE']
if (!release) throw new Error('Run `npm run release`: it makes the tarballs that these tests check.')

/** Where `.ci/release.mjs` has put the tarballs and the SBOM. */
export const folder: string = release

/** An empty project with all tarballs installed. */
export const project = join(folder, 'project')

const files = readdirSync(folder)

/** The published packages by their folder here, with the path of the tarball and the folder of the installed package. */
export const packages = published.map((name) => ({
  name,
  tarball: join(folder, tarballOf(name, files)),
  installed: join(project, 'node_modules', nameOf(name)),
}))
