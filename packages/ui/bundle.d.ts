import type { Plugin } from 'esbuild'

/** See `bundle.js`. */
export const bundledPages: () => Plugin
