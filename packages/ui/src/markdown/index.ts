export { Markdown, OrElse, useBlocks, useReader } from './markdown.js'
