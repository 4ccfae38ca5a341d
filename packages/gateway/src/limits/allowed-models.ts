import { invalid } from '@turnpike/core/internal'

/** @throws ApiError 400 for a model, bare or behind its provider's id, that is not in a closed list */
export function requireModel(model: string, allowed: readonly string[]): void {
  if (allowed.includes(model) || allowed.includes(model.slice(model.indexOf('/') + 1))) return
  throw invalid(`model must be one of ${allowed.join(', ')}`, { code: 'model_not_found' })
}
