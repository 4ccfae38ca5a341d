import type { Route } from './operation.js'

/** The result of matching a path against a route table. */
export interface Match<R> {
  /** The routes of the path by method; empty if no route matches. */
  methods: Map<string, R>
  /** The decoded path parameters by name. */
  params: Record<string, string>
}

/** Percent-decodes a segment; returns it unchanged if it is malformed. */
const decode = (segment: string): string => {
  try {
    return decodeURIComponent(segment)
  } catch {
    return segment
  }
}

/**
 * Compiles a route table into a matcher. Paths without parameters are found by one look-up and take precedence; of paths with `{name}` (one
 * segment) or `{name+}` (the rest of the path) the first that matches is taken.
 */
export function matcher<R extends Route>(routes: readonly R[]): (path: string) => Match<R> {
  const fixed = new Map<string, Map<string, R>>()
  const patterns = new Map<string, { segments: string[]; methods: Map<string, R> }>()
  for (const route of routes) {
    let methods: Map<string, R> | undefined
    if (route.path.includes('{')) {
      methods = patterns.get(route.path)?.methods
      if (!methods) patterns.set(route.path, { segments: route.path.split('/'), methods: (methods = new Map()) })
    } else {
      methods = fixed.get(route.path)
      if (!methods) fixed.set(route.path, (methods = new Map()))
    }
    methods.set(route.method, route)
  }

  const matchPattern = (segments: string[], given: string[]): Record<string, string> | undefined => {
    const isOpen = segments.at(-1)!.endsWith('+}')
    if (isOpen ? segments.length > given.length : segments.length !== given.length) return undefined
    let params: Record<string, string> | undefined
    for (let i = 0; i < segments.length; i++) {
      const segment = segments[i]!
      if (segment[0] !== '{') {
        if (segment !== given[i]) return undefined
      } else {
        if (given[i] === '') return undefined
        params ??= {}
        if (segment.endsWith('+}')) params[segment.slice(1, -2)] = decode(given.slice(i).join('/'))
        else params[segment.slice(1, -1)] = decode(given[i]!)
      }
    }
    return params
  }

  const noMethods = new Map<string, R>()
  return (path) => {
    const methods = fixed.get(path)
    if (methods) return { methods, params: {} }
    const given = path.split('/')
    for (const pattern of patterns.values()) {
      const params = matchPattern(pattern.segments, given)
      if (params) return { methods: pattern.methods, params }
    }
    return { methods: noMethods, params: {} }
  }
}
