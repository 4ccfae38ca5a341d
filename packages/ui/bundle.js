import { createHash } from 'node:crypto'
import { basename, extname, resolve } from 'node:path'
import { build } from 'esbuild'
import { writeLicenses } from './licenses.js'

/**
 * An esbuild plugin: `import files from 'page:./page/main.tsx'` is the script and the styles of a page, each bundled into one text whose name
 * changes with its bytes: `{ script: { name, text }, styles: { name, text }, parts }`. `parts` are the scripts that it loads, each with its name and
 * text: those of its `import()`, `isStatic: false`, and what they share with it, `isStatic: true`. The licences of what pages contain are written
 * beside the output.
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
        splitting: true,
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
      const outputs = Object.entries(metafile.outputs)
      const [ofScript, { imports }] = outputs.find(([, { entryPoint }]) => entryPoint && resolve(entryPoint) === path)
      const isStatic = (file) => imports.some((one) => one.path === file && one.kind === 'import-statement')
      const textOf = (file) => outputFiles.find((one) => one.path === resolve(file)).text
      const app = (extension, text) => {
        const hash = createHash('sha256').update(text).digest('hex').slice(0, 12)
        return { name: `app.${hash}${extension}`, text }
      }
      // Those of the script first, then those of its `import()`: a page has one stylesheet.
      const styles = outputs.map(([file]) => file).filter((file) => file.endsWith('.css'))
      const nameOf = (file) => basename(file, extname(file))
      styles.sort((a, b) => Number(nameOf(b) === nameOf(ofScript)) - Number(nameOf(a) === nameOf(ofScript)))
      // esbuild puts a hash of its own into the names of parts.
      const parts = outputs
        .filter(([file]) => file !== ofScript && file.endsWith('.js'))
        .map(([file]) => ({ name: basename(file), text: textOf(file), isStatic: isStatic(file) }))
      return {
        contents: JSON.stringify({
          script: app('.js', textOf(ofScript)),
          styles: app('.css', styles.map(textOf).join('')),
          parts,
        }),
        loader: 'json',
        watchFiles: Object.keys(metafile.inputs),
      }
    })
  },
})
