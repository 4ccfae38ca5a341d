/** What `bundledPages` of @turnpike/ui makes of a page. */
declare module 'page:*' {
  const files: import('@turnpike/ui/page-files').Bundled
  export default files
}

declare module '*.css'
