/** An iterator whose first value was read already: so that what fails until then can be told in another way. */
export function begunWith<T>(
  first: IteratorResult<T, undefined>,
  rest: AsyncIterator<T, undefined>,
): AsyncIterableIterator<T, undefined> {
  let waiting: typeof first | undefined = first
  return {
    async next() {
      const result = waiting ?? rest.next()
      waiting = undefined
      return result
    },
    async return() {
      waiting = undefined
      return (await rest.return?.()) ?? { done: true, value: undefined }
    },
    [Symbol.asyncIterator]() {
      return this
    },
  }
}
