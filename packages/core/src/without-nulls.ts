/** Without the fields that are null, as clients send what is absent; a message's `content` may be null. The object itself where there is none. */
export function withoutNulls<T extends object>(given: T): T {
  // Nearly no object has one, and to look with Object.values makes an array of each.
  for (const key in given)
    if (given[key] === null)
      return Object.fromEntries(
        Object.entries(given).filter(([key, value]) => value !== null || key === 'content'),
      ) as T
  return given
}
