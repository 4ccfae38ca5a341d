/** Without the fields that are null, as clients send what is absent; a message's `content` may be null. The object itself where there is none. */
export const withoutNulls = <T extends object>(given: T): T =>
  Object.values(given).includes(null)
    ? (Object.fromEntries(Object.entries(given).filter(([key, value]) => value !== null || key === 'content')) as T)
    : given
