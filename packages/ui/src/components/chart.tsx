import { lazy } from './lazy.js'

/** Lines, or bars of parts, over time. What draws them is loaded when the first is shown. */
export const Chart = lazy(async () => (await import('../chart/plot.js')).Plot)
