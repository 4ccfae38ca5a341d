/** A model for a first request: a small one, else the first that is not for vectors, which are named so. @param ids the models that are listed */
export const modelToTry = (ids: readonly string[]): string =>
  ids.includes('gpt-4o-mini') ? 'gpt-4o-mini' : (ids.find((id) => !/embed/i.test(id)) ?? 'gpt-4o-mini')
