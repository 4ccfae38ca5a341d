/**
 * What the packages of Turnpike share and nobody else needs. It may change in any release.
 * @internal
 * @module
 */
export {
  CALLS_AT_ONCE,
  END_USER_LENGTH,
  ID_LENGTH,
  JSON_DEPTH,
  JSON_FIELDS,
  JSON_VALUES,
  MAX_CHOICES,
  KEY_LIMITS,
  MAX_PAGE_SIZE,
  PAGE_BYTES,
  PAGE_SIZE,
  STORAGE_RETRY_AFTER_S,
  TOKEN_PREFIX,
} from './conventions.js'
export { audit } from './entities/audit.js'
export { newBalance, tokenLimit } from './entities/balances.js'
export type { Counts } from './entities/counts.js'
export { countEntries, counting, growth, ownedKey } from './entities/counts.js'
export * from './entities/erasure.js'
export { userOf } from './entities/identified.js'
export { keyLimitsOf } from './entities/key-limits.js'
export * from './entities/names.js'
export { higherRole, highestOwnRole, isAdmin } from './entities/roles.js'
export type { Attribute, Tagged } from './entities/tags.js'
export { attribution } from './entities/tags.js'
export { emailId, isErased, newUser, ONE_LINE, userEntries, userEntry, userIdOf } from './entities/users.js'
export { unauthenticated } from './errors.js'
export * from './invalid.js'
export * from './key-end.js'
export * from './kv/commit.js'
export type { KeyRange } from './kv/kv.js'
export { decodeKey, encodeKey, rangeOf } from './kv/kv.js'
export { pageBelow, pageOfIndex } from './kv/pages.js'
export { isDelete, logEntry } from './kv/kv-log.js'
export * from './ledger/histogram.js'
export { lastUsed } from './ledger/last-used.js'
export { areBelieved, believable, hourOf, sumOf, totalsOf } from './ledger/totals.js'
export { consumeMore, granted } from './rate-limiter.js'
export { completionClasses, measureClasses, promptClasses, unitClasses } from './prices/price.js'
export { likelyTokens, tokensOf } from './prices/cost.js'
export { pricesBefore } from './prices/own-prices.js'
export { undated } from './prices/price-table.js'
export { budgetUsed, keyBudget, userBudget } from './entities/budgets.js'
export { endUserBudget, endUserId, firstIdOf, isEndUserId } from './entities/end-users.js'
export { Budget, budgetOf, NewBudget } from './schemas/budget.js'
export { CustomToolCall, jsonObject } from './schemas/chat.js'
export { Email, UserName } from './schemas/user-fields.js'
export * from './sum-usage.js'
export * from './texts-of.js'
export { verifyOwned } from './verify.js'
