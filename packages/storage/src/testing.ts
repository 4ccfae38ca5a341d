/** Contract tests of the storage ports, for authors of engines and drivers. @module */
export * from './blob-contract.js'
export type { ContractCase } from './contract-case.js'
export { kvContract } from './kv-contract.js'
export * from './rate-limiter-contract.js'
