// What is loaded when a text is first shown.
export { MarkdownDocument } from './document.js'
export { leavesOf } from './leaves.js'
export { sourceOf } from './parser.js'
export { partsOf } from './parts.js'
export { Link, shown, shownPart } from './render.js'
