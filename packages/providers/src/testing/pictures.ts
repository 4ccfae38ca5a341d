import { toBase64 } from '@turnpike/core/helpers'
import { png } from './png.js'
import { hash } from './vectors.js'

/** A small PNG in base64 whose color depends only on the prompt. */
export function pngOf(prompt: string): string {
  const color = hash(prompt)
  return toBase64(png(color >>> 24, (color >>> 16) & 255, (color >>> 8) & 255))
}

/** A gray JPEG of 8 by 8 pixels, in base64. */
export const grayJpeg =
  '/9j/4AAQSkZJRgABAgAAAQABAAD/2wBDAAgEBAQEBAUFBQUFBQYGBgYGBgYGBgYGBgYHBwcICAgHBwcGBgcHCAgICAkJCQgICAgJCQoKCgwMCwsODg4RERT/xABKAAEAAAAAAAAAAAAAAAAAAAAAAQEAAAAAAAAAAAAAAAAAAAAAEAEAAAAAAAAAAAAAAAAAAAAAEQEAAAAAAAAAAAAAAAAAAAAA/8AAEQgACAAIAwESAAISAAMSAP/aAAwDAQACEQMRAD8AAA//2Q=='

/** A gray WebP of 8 by 8 pixels, in base64. */
export const grayWebp = 'UklGRh4AAABXRUJQVlA4TBEAAAAvB8ABAAdQwAIWsP+BiOh/AAA='
