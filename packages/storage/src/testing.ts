/** The contracts of the ports, for people who write engines and drivers. @module */
export * from './blob-contract.js'
export type { ContractCase } from './contract-case.js'
export { kvContract } from './kv-contract.js'
export * from './rate-limiter-contract.js'
