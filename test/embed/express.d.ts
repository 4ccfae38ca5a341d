/** The part of Express that the tests use; its types are a package of their own, which the project does without. */
declare module 'express' {
  import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http'

  type Next = (error?: unknown) => void
  type Middleware = (request: IncomingMessage, response: ServerResponse, next: Next) => unknown
  type ErrorMiddleware = (error: Error, request: IncomingMessage, response: ServerResponse, next: Next) => unknown

  export interface Application extends RequestListener {
    use(handler: Middleware): this
    use(handler: ErrorMiddleware): this
    use(path: string, handler: Middleware): this
    get(path: string, handler: Middleware): this
    post(path: string, handler: Middleware): this
  }

  const express: { (): Application; json(): Middleware }
  export default express
}
