/** Adds items to the end of a list. Unlike `push(...items)`, whose arguments are on the stack, it takes any number of them. */
export function append<T>(list: T[], items: readonly T[]): void {
  for (const item of items) list.push(item)
}
