/** The page's, which tests without one stand in for. */
declare const location: { href: string; origin: string }

/** Whether a text may be the address of a link: http, https, mailto or a file of the platform. Others stay the text that they are. */
export const isLinkable = (url: string): boolean => /^(?:https?:\/\/|mailto:)/i.test(url) || isOwnFile(url)

/** Whether a URL is of a user's file on this server: pictures of those are shown, of other hosts none is loaded. */
export function isOwnFile(url: string): boolean {
  if (!URL.canParse(url, location.href)) return false
  const { origin, pathname } = new URL(url, location.href)
  return origin === location.origin && /\/api\/user-files\/[\da-f-]{36}\/content$/i.test(pathname)
}
