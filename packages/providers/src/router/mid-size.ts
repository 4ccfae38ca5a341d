import type { Model, Price } from '@turnpike/core'
import { lineOf, versionOf } from '../models/lines.js'

/**
 * The mid-size one of the chat models of a provider that can call tools and have a known price: of the newest version of each model, the
 * one with the median output price; of an even number, the cheaper of the two in the middle. Undefined if there is none.
 */
export function midSize(models: Model[], priceOf: (model: Model) => Price | undefined): Model | undefined {
  const output = (model: Model): number | undefined => priceOf(model)?.output
  const newest = new Map<string, Model>()
  for (const model of models) {
    const { id, capabilities } = model
    if (!capabilities.includes('chat') || !capabilities.includes('tools') || output(model) === undefined) continue
    const other = newest.get(lineOf(id))
    if (!other || versionOf(other.id) < versionOf(id)) newest.set(lineOf(id), model)
  }
  const bySize = [...newest.values()].toSorted((a, b) => output(a)! - output(b)!)
  return bySize[Math.floor((bySize.length - 1) / 2)]
}
