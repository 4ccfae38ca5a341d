/** What `bundledPages` of @turnpike/ui makes of a page. */
declare module 'page:*' {
  const files: Record<'script' | 'styles', { name: string; text: string }>
  export default files
}

declare module '*.css'

/** The bytes of a font. */
declare module '*.woff2' {
  const bytes: Uint8Array
  export default bytes
}
