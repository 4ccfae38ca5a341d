export type { Block } from './document.js'
export type { Leaf, Mark, Run } from './leaves.js'
export { Markdown, useBlocks, useReader } from './markdown.js'
