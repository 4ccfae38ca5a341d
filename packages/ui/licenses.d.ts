/** See `licenses.js`. */
export const writeLicenses: (inputs: string[], outdir: string) => void
