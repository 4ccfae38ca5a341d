// What is loaded when a text is first shown.
export { MarkdownDocument } from './document.js'
export { leavesOf } from './leaves.js'
export { Link, shown } from './render.js'
