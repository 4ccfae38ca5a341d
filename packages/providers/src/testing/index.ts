/** Fake upstreams that respond and validate requests like the vendors, in process or over HTTP. @module */
export * from './fake-anthropic.js'
export * from './fake-google.js'
export * from './fake-openai.js'
export * from './fake-upstream.js'
