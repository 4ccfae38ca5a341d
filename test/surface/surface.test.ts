import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import ts from 'typescript-5'
import { describe, expect, it } from 'vitest'
import { published } from '../support/pack.js'

/**
 * What each package exports, with types, as its built declarations have it: `golden/PACKAGE.d.txt`. A change of the surface is a change
 * of that file. `UPDATE=1` writes it anew.
 */
const golden = fileURLToPath(new URL('golden', import.meta.url))
const packages = fileURLToPath(new URL('../../packages', import.meta.url))

const printer = ts.createPrinter({ removeComments: true })

interface Export {
  name: string
  text: string
  documented: boolean
}

/** The public entry points of a package by subpath, as declaration files. */
function entriesOf(name: string): [subpath: string, file: string][] {
  const manifest = JSON.parse(readFileSync(join(packages, name, 'package.json'), 'utf8')) as {
    exports: Record<string, string | { types: string }>
  }
  return Object.entries(manifest.exports).flatMap(([subpath, target]): [string, string][] =>
    subpath === './internal' || typeof target === 'string' ? [] : [[subpath, join(packages, name, target.types)]],
  )
}

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
      return {
        name: exported.name,
        text: declarations
          .map((each) => printer.printNode(ts.EmitHint.Unspecified, each, each.getSourceFile()))
          .join('\n'),
        // A schema and its type have one name and one comment.
        documented: declarations.some((each) => ts.getJSDocCommentsAndTags(each).length > 0),
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

describe.each(published)('package %s', (name) => {
  const surface = entriesOf(name).map(([subpath, file]) => ({ subpath, exports: exportsOf(program, file) }))

  it('exports what its golden file lists', () => {
    const text = surface
      .map(
        ({ subpath, exports }) =>
          `## ${subpath} (${exports.length})\n\n${exports.map((each) => each.text).join('\n\n')}\n`,
      )
      .join('\n')
    const file = join(golden, `${name}.d.txt`)
    if (process.env['UPDATE']) {
      mkdirSync(golden, { recursive: true })
      writeFileSync(file, text)
    }
    expect(text).toBe(existsSync(file) ? readFileSync(file, 'utf8') : '')
  })

  it('documents every export', () => {
    const bare = surface.flatMap(({ subpath, exports }) =>
      exports.filter(({ documented }) => !documented).map((each) => `${subpath} ${each.name}`),
    )
    expect(bare).toEqual([])
  })
})
