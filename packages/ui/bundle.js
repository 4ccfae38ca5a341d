import { createHash } from 'node:crypto'
import { build } from 'esbuild'
import { writeLicenses } from './licenses.js'

/**
 * An esbuild plugin: `import files from 'page:./page/main.tsx'` is the script and the styles of a page, each bundled into one text whose name
 * changes with its bytes: `{ script: { name, text }, styles: { name, text } }`. The licences of what pages contain are written beside the output.
 * @returns {import('esbuild').Plugin}
 */
export const bundledPages = () => ({
  name: 'bundled pages',
  setup(outer) {
    /** @type {string[]} */
    const inputs = []
    outer.onEnd(() => writeLicenses(inputs, outer.initialOptions.outdir))
    outer.onResolve({ filter: /^page:/ }, async ({ path, resolveDir }) => {
      const { path: entry, errors } = await outer.resolve(path.slice('page:'.length), {
        kind: 'entry-point',
        resolveDir,
      })
      return errors.length > 0 ? { errors } : { path: entry, namespace: 'page' }
    })
    outer.onLoad({ filter: /.*/, namespace: 'page' }, async ({ path }) => {
      const { outputFiles, metafile } = await build({
        entryPoints: [path],
        bundle: true,
        write: false,
        minify: true,
        metafile: true,
        outdir: '/',
        format: 'esm',
        target: 'es2022',
        jsx: 'automatic',
        jsxImportSource: 'preact',
        legalComments: 'none',
        // A file of its own, beside the styles.
        external: ['*.woff2'],
      })
      inputs.push(...Object.keys(metafile.inputs))
      const file = (extension) => {
        const found = outputFiles.find((one) => one.path.endsWith(extension))
        if (!found) return undefined
        const hash = createHash('sha256').update(found.contents).digest('hex').slice(0, 12)
        return { name: `app.${hash}${extension}`, text: found.text }
      }
      return {
        contents: JSON.stringify({ script: file('.js'), styles: file('.css') }),
        loader: 'json',
        watchFiles: Object.keys(metafile.inputs),
      }
    })
  },
})
