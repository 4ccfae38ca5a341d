/**
 * Drops fields that are null, which some clients send for absent ones; `content` may be null in a message and is kept.
 * Returns the object itself if nothing is dropped.
 */
export function withoutNulls<T extends object>(given: T): T {
  // Few objects have a null field, and Object.values would allocate an array for each object.
  for (const key in given)
    if (given[key] === null)
      return Object.fromEntries(
        Object.entries(given).filter(([key, value]) => value !== null || key === 'content'),
      ) as T
  return given
}
