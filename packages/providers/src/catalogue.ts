import type { PriceSource } from '@turnpike/core'
export const builtInPrices = (): PriceSource => ({ table: () => ({ version: '', price: () => undefined }) })
export const contextOf = (_: string, __: string): number | undefined => undefined
