/** The clock of this process, which can be set back and then goes on from there: imported before what reads it. */
const RealDate = Date
const realPerformance = performance.now.bind(performance)
/** Milliseconds by which the clock differs from the machine's. */
let offset = 0
/** Milliseconds of `offset` that passed as time, and so count for durations. */
let passed = 0

globalThis.Date = class extends RealDate {
  constructor(...args) {
    if (args.length === 0) super(Date.now())
    else super(...args)
  }
  static now() {
    return Math.floor(RealDate.now() + offset)
  }
}
performance.now = () => realPerformance() + passed

/** Sets the clock. @param time in milliseconds; default the machine's */
export const setClock = (time = RealDate.now()) => (offset = time - RealDate.now())

/** Lets time pass at once. */
export const pass = (ms) => {
  offset += ms
  passed += ms
}
