import inter from '@fontsource-variable/inter/files/inter-latin-wght-normal.woff2'

/** Inter in all weights, with the letters of western languages. Its name, with its version, is in styles.css, too. */
export const font = { name: 'inter-5.3.0.woff2', bytes: inter }
