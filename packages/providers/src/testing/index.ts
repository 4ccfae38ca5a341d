/** Fake upstreams that respond and validate requests like the vendors, in process or over HTTP. @module */
export { anthropicRefusal } from './anthropic-rules.js'
export * from './fake-anthropic.js'
export * from './fake-google.js'
export * from './fake-openai.js'
export * from './fake-upstream.js'
export { googleRefusal } from './google-rules.js'
export { openaiRefusal } from './openai-rules.js'
export type { Refusal } from './openai-refusals.js'
