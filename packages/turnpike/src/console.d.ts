/** The console is a page without declarations, which tsup.config.ts bundles. */
declare module '@turnpike/example-console' {
  export const consoleFiles: typeof import('@turnpike/dashboard').dashboardFiles
  export const consoleHeaders: typeof import('@turnpike/dashboard').dashboardHeaders
}
