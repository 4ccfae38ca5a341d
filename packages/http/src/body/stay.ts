import type { Memory } from '@turnpike/core'
import type { LogLine } from '../request-log.js'

/** What has to be finished or released when a request ends. */
export class Stay implements Memory {
  /** Releases the admission of `enter`; undefined where there is none or it was released. */
  admitted: (() => void) | undefined
  /** Who has the memory. */
  caller = ''
  private bytes = 0
  private isOver = false

  /** @param memory of a handler: takes bytes for a caller, or throws */
  constructor(
    /** The value of the answer's X-Request-ID. */
    readonly requestId: string,
    readonly log: LogLine | undefined,
    private readonly memory: (caller: string, bytes: number) => void,
  ) {}

  take(bytes: number): void {
    // What comes after the end is not kept.
    if (this.isOver) return
    this.memory(this.caller, bytes)
    this.bytes += bytes
  }
  /** Takes so much that it has so many bytes in all; nothing where it has them already. @throws ApiError 503 where there are none left */
  hold(bytes: number): void {
    if (bytes > this.bytes) this.take(bytes - this.bytes)
  }
  /** Releases the admission, once. */
  leave(): void {
    const { admitted } = this
    this.admitted = undefined
    admitted?.()
  }
  /** Releases all, once. */
  end(status: number): void {
    this.log?.end(status)
    this.leave()
    if (this.bytes > 0) this.take(-this.bytes)
    this.isOver = true
  }
}
