/** Contract tests of the storage ports, for authors of engines and drivers. @module */
export * from './contract/blob-contract.js'
export type { ContractCase } from './contract/contract-case.js'
export { kvContract } from './contract/kv-contract.js'
export * from './contract/rate-limiter-contract.js'
