export { Markdown, useBlocks, useReader } from './markdown.js'
