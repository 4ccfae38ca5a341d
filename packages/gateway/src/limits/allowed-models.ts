import type { Router, Target } from '@turnpike/core'
import { invalid } from '@turnpike/core/internal'
import type { Caller, UserCaller } from '../caller.js'
import { hasUser } from '../caller.js'
import { forbidden } from '../errors.js'

/** The names of a model among those of a key. Ollama's tag `latest` is the same as none. */
function namesOf(provider: string, model: string): string[] {
  const plain = model.replace(/:latest$/, '')
  const ids = [plain, `${plain}:latest`]
  return [...ids, ...ids.map((id) => `${provider}/${id}`)]
}

/** Tells whether a caller may use a model: the key names it, or a group that has it. */
export function usableBy(router: Router, caller: Caller): (provider: string, model: string) => boolean {
  const models = hasUser(caller) ? caller.key?.models : undefined
  if (!models) return () => true
  // A group or an alias stands in front of a model of the same name, which it does not allow.
  const all = new Set([...new Set(models)].flatMap((name) => router.members(name) ?? [name]))
  return (provider, model) => namesOf(provider, model).some((name) => all.has(name))
}

/** Whether targets remain, and not only fallbacks, which are for what others have refused. @param all those that there were: fallbacks are last */
export const isServed = (targets: Target[], all: Target[]): boolean =>
  targets.length > 0 && (targets[0]!.fallback === undefined || all[0]!.fallback !== undefined)

/** The targets that a caller may use. @throws ApiError 403 where there are none, or fallbacks only */
export function allowedTargets(router: Router, caller: UserCaller, targets: Target[]): Target[] {
  if (!caller.key?.models) return targets
  const mayUse = usableBy(router, caller)
  const allowed = targets.filter(({ provider, model }) => mayUse(provider.id, model))
  if (!isServed(allowed, targets)) throw forbidden('This key may not be used for this model')
  return allowed
}

/** @throws ApiError 400 for a model, bare or behind its provider's id, that is not in a closed list */
export function requireModel(model: string, allowed: readonly string[]): void {
  if (allowed.includes(model) || allowed.includes(model.slice(model.indexOf('/') + 1))) return
  throw invalid(`model must be one of ${allowed.join(', ')}`, { code: 'model_not_found' })
}
