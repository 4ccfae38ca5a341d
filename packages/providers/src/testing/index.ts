/** Fake upstreams: they answer as the vendors do and refuse what the vendors refuse, in process or over HTTP. @module */
export * from './fake-anthropic.js'
export * from './fake-google.js'
export * from './fake-openai.js'
export * from './fake-upstream.js'
