import type { Memory } from '@turnpike/core'
import { LEFT_ANSWER_MS } from './conventions.js'
import type { LogLine } from './request-log.js'

/** What has to be finished or released when a request ends. */
export class Stay implements Memory {
  /** Releases the admission of `enter`; undefined where there is none or it was released. */
  admitted: (() => void) | undefined
  /** Who has the memory. */
  caller = ''
  private bytes = 0
  private isOver = false
  private timer: ReturnType<typeof setTimeout> | undefined

  /** @param memory of a handler: takes bytes for a caller, or throws */
  constructor(
    readonly log: LogLine | undefined,
    private readonly memory: (caller: string, bytes: number) => void,
  ) {}

  /** Whether it has any of the memory. */
  get holds(): boolean {
    return this.bytes > 0
  }
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
  release(): void {
    this.leave()
    clearTimeout(this.timer)
    if (this.holds) this.take(-this.bytes)
    this.isOver = true
  }
  /** The client has left. The upstream may be read to its end nevertheless, and holds its memory; where nobody reads on, this ends it. */
  abandon(): void {
    this.leave()
    if (!this.holds || this.timer) return
    this.timer = setTimeout(() => this.release(), LEFT_ANSWER_MS)
    // A process need not wait for it, where the runtime has that.
    ;(this.timer as { unref?: () => void }).unref?.()
  }
  end(status: number): void {
    this.log?.end(status)
    this.release()
  }
}
