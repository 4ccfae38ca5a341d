import type { LanguageFn } from 'highlight.js'
import bash from 'highlight.js/lib/languages/bash'
import cpp from 'highlight.js/lib/languages/cpp'
import css from 'highlight.js/lib/languages/css'
import diff from 'highlight.js/lib/languages/diff'
import go from 'highlight.js/lib/languages/go'
import ini from 'highlight.js/lib/languages/ini'
import java from 'highlight.js/lib/languages/java'
import json from 'highlight.js/lib/languages/json'
import php from 'highlight.js/lib/languages/php'
import python from 'highlight.js/lib/languages/python'
import ruby from 'highlight.js/lib/languages/ruby'
import rust from 'highlight.js/lib/languages/rust'
import sql from 'highlight.js/lib/languages/sql'
import typescript from 'highlight.js/lib/languages/typescript'
import xml from 'highlight.js/lib/languages/xml'
import yaml from 'highlight.js/lib/languages/yaml'
import { createLowlight } from 'lowlight'
import type { ComponentChildren } from 'preact'
import { h } from 'preact'

/** The languages by name; each knows its other names, such as `html` and `sh`. */
const languages: Record<string, LanguageFn> = {
  bash,
  cpp,
  css,
  diff,
  go,
  ini,
  java,
  json,
  php,
  python,
  ruby,
  rust,
  sql,
  typescript,
  xml,
  yaml,
}
const lowlight = createLowlight(languages)
lowlight.registerAlias({ typescript: ['javascript', 'js', 'jsx', 'mjs'], bash: ['shell', 'console'] })

type Content = ReturnType<typeof lowlight.highlight>['children'][number]

/** How many parts of code may be within each other; what is deeper is plain. Otherwise nested quotes become more elements than the stack can hold. */
const MOST_DEEP = 50

/** The text of a part. Without recursion, for the same reason. */
function textOf(node: Content): string {
  let text = ''
  const rest = [node]
  for (let next = rest.pop(); next; next = rest.pop())
    if (next.type === 'text') text += next.value
    else if (next.type === 'element') rest.push(...next.children.toReversed())
  return text
}

function element(node: Content, depth: number): ComponentChildren {
  if (node.type === 'text') return node.value
  if (node.type !== 'element') return null
  const name = (node.properties.className as string[]).join(' ')
  return h('span', { class: name }, depth < MOST_DEEP ? elements(node.children, depth + 1) : textOf(node))
}

const elements = (nodes: readonly Content[], depth = 1): ComponentChildren[] =>
  nodes.map((node) => element(node, depth))

/** Code with spans for its parts; undefined where the language is not known. */
export const highlight = (code: string, language: string): ComponentChildren | undefined =>
  lowlight.registered(language) ? elements(lowlight.highlight(language, code).children) : undefined
