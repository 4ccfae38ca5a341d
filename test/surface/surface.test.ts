import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import ts from 'typescript-5'
import { describe, expect, it } from 'vitest'
import { needs, testAll } from '../support/needs.js'
import { published } from '../support/pack.js'
import { typeCheck } from '../support/type-check.js'
import { exampleProgram } from './example-program.js'

/**
 * What each package exports, with types and comments, as its built declarations have it: `docs/reference/PACKAGE.md`. A change of the
 * surface is a change of that file. `UPDATE=1` writes it anew.
 */
const reference = fileURLToPath(new URL('../../docs/reference', import.meta.url))
const packages = fileURLToPath(new URL('../../packages', import.meta.url))

const printer = ts.createPrinter()

interface Export {
  name: string
  text: string
  documented: boolean
  isFunction: boolean
  isType: boolean
  examples: string[]
}

interface Manifest {
  name: string
  exports: Record<string, string | { types: string }>
}
const manifestOf = (name: string): Manifest =>
  JSON.parse(readFileSync(join(packages, name, 'package.json'), 'utf8')) as Manifest

/** The public entry points of a package by the module that is imported, as declaration files. */
const entriesOf = (name: string): [module: string, file: string][] =>
  Object.entries(manifestOf(name).exports).flatMap(([subpath, target]): [string, string][] =>
    /^\.\/(internal|helpers)$/.test(subpath) || typeof target === 'string'
      ? []
      : [[manifestOf(name).name + subpath.slice(1), join(packages, name, target.types)]],
  )

/** A declaration with its comments. */
const textOf = (declaration: ts.Node): string =>
  printer.printNode(ts.EmitHint.Unspecified, declaration, declaration.getSourceFile())

/** The exports of a declaration file by name, each as it is declared. */
function exportsOf(program: ts.Program, file: string): Export[] {
  const checker = program.getTypeChecker()
  const module = checker.getSymbolAtLocation(program.getSourceFile(file)!)
  return checker
    .getExportsOfModule(module!)
    .toSorted((a, b) => (a.name < b.name ? -1 : 1))
    .map((exported) => {
      const symbol = exported.flags & ts.SymbolFlags.Alias ? checker.getAliasedSymbol(exported) : exported
      const declarations = symbol.declarations!.map((declaration) =>
        // A constant's declaration is its statement.
        ts.isVariableDeclaration(declaration) ? declaration.parent.parent : declaration,
      )
      const isCallable = (each: ts.Node): boolean =>
        ts.isFunctionDeclaration(each) ||
        (ts.isVariableStatement(each) &&
          each.declarationList.declarations.some(({ type }) => type && ts.isFunctionTypeNode(type)))
      return {
        name: exported.name,
        text: declarations.map(textOf).join('\n'),
        // A schema and its type have one name and one comment.
        documented: declarations.some((each) => ts.getJSDocCommentsAndTags(each).length > 0),
        isFunction: declarations.some(isCallable),
        isType: !(symbol.flags & ts.SymbolFlags.Value),
        examples: symbol
          .getJsDocTags()
          .flatMap(({ name, text }) => (name === 'example' ? [ts.displayPartsToString(text)] : [])),
      }
    })
}

/** One program for all: each would parse the same files again. What is printed is the declarations as they are, without the types of libraries. */
const program = ts.createProgram(
  published.flatMap((name) => entriesOf(name).map(([, file]) => file)),
  {
    target: ts.ScriptTarget.ES2022,
    moduleResolution: ts.ModuleResolutionKind.Bundler,
    module: ts.ModuleKind.ESNext,
    noLib: true,
    types: [],
  },
)

const surfaces = published.map((name) => ({
  name,
  surface: entriesOf(name).map(([module, file]) => ({ module, exports: exportsOf(program, file) })),
}))

describe.each(surfaces)('package $name', ({ name, surface }) => {
  it('exports what its reference has', () => {
    const entries = surface.map(({ module, exports }) => {
      const blocks = exports.map((each) => `### ${each.name}\n\n\`\`\`ts\n${each.text}\n\`\`\`\n`)
      return `## ${module}\n\n${exports.length} exports.\n\n${blocks.join('\n')}`
    })
    const head = `# ${manifestOf(name).name}\n\nEvery export with its types and comments, from the declarations of the package ([README](../../packages/${name}/README.md)). Made by \`test/surface\`.\n`
    const text = [head, ...entries].join('\n')
    const file = join(reference, `${name}.md`)
    if (process.env['UPDATE']) {
      mkdirSync(reference, { recursive: true })
      writeFileSync(file, text)
    }
    expect(text).toBe(existsSync(file) ? readFileSync(file, 'utf8') : '')
  })

  it('documents every export, and each function with an example', () => {
    const bare = surface.flatMap(({ module, exports }) =>
      exports
        .filter(({ documented, isFunction, examples }) => !documented || (isFunction && examples.length === 0))
        .map((each) => `${module} ${each.name}`),
    )
    expect(bare).toEqual([])
  })
})

it('has examples that type-check', needs(testAll), () => {
  const modules = surfaces.flatMap(({ surface }) => surface)
  const programs = modules.flatMap(({ module, exports }) =>
    exports.flatMap(({ name, examples, isType }) =>
      (isType ? [] : examples).map((example, i) => [
        `${module}-${name}-${i}.ts`.replaceAll(/[^\w.]+/g, '-'),
        exampleProgram(example, module, modules),
      ]),
    ),
  )
  typeCheck('surface-examples', Object.fromEntries(programs) as Record<string, string>)
})
