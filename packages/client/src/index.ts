export type { Client, ClientOptions, Page, Send } from './client.js'
export { createClient } from './client.js'
export { errorOf, PlatformError } from './errors.js'
export type { ServerSentEvent } from './events.js'
export { readEvents } from './events.js'
export type { SessionStore } from './session.js'
export { indexedDBStore } from './stores.js'
export type {
  Answer,
  AuthSession,
  GatewaySchemas,
  Item,
  ListPaths,
  Method,
  Options,
  Paths,
  PathsOf,
  RequestOptions,
  Schemas,
  SignedInUser,
  StreamEvent,
  StreamPaths,
} from './types.js'
export type { UploadOptions, UploadProgress } from './upload.js'
