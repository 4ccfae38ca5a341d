import type { Model, Price } from '@turnpike/core'
import { undated } from '@turnpike/core/internal'

/** What the versions of a model share: `gpt-mini` of `gpt-5.4-mini`, `claude-sonnet` of `claude-sonnet-4-6`. */
const lineOf = ({ id }: Model): string => undated(id).replace(/[-.]?\d+/g, '')

/** Compares versions of a model, oldest first. */
const byVersion = (a: Model, b: Model): number => undated(a.id).localeCompare(undated(b.id), 'en', { numeric: true })

/**
 * The mid-size one of the chat models of a provider that can call tools and have a known price: of the newest version of each model, the
 * one with the median output price; of an even number, the cheaper of the two in the middle. Undefined if there is none.
 */
export function midSize(models: Model[], priceOf: (model: Model) => Price | undefined): Model | undefined {
  const output = (model: Model): number | undefined => priceOf(model)?.output
  const newest = new Map<string, Model>()
  for (const model of models) {
    const { capabilities } = model
    if (!capabilities.includes('chat') || !capabilities.includes('tools') || output(model) === undefined) continue
    const other = newest.get(lineOf(model))
    if (!other || byVersion(other, model) < 0) newest.set(lineOf(model), model)
  }
  const bySize = [...newest.values()].toSorted((a, b) => output(a)! - output(b)!)
  return bySize[Math.floor((bySize.length - 1) / 2)]
}
