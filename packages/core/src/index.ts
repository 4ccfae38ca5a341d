/** Schemas, ports, errors, keys, users, the usage ledger and prices of Turnpike. What only its packages share is in `./internal`. @module */
export type { BlobBody, BlobContent, BlobPutOptions, BlobStore, ByteRange, StoredBlob } from './blob-store.js'
export type { ErrorCode, ErrorType } from './conventions.js'
export { DEFAULT_RATE_LIMIT, errorCodes, KEY_BYTES, KEY_PREFIX } from './conventions.js'
export type { Act, AuditEntry } from './entities/audit.js'
export { listAudit } from './entities/audit.js'
export type { Balance, BalanceChange, BalancePolicy } from './entities/balances.js'
export { changeBalance, getBalance } from './entities/balances.js'
export type { EndUser, EndUserChange, EndUserRules, EndUsers } from './entities/end-users.js'
export type { Identified } from './entities/identified.js'
export type { GatewayKey, GatewayKeys, KeyHolder, KeyChange, KeyInput, KeySpace } from './entities/gateway-keys.js'
export type { GivenKeyLimits, KeyLimits } from './entities/key-limits.js'
export { gatewayKeys } from './entities/gateway-keys.js'
export type { Session } from './entities/sessions.js'
export { createSession, getSession, listSessions } from './entities/sessions.js'
export type { Role } from './entities/roles.js'
export { ROLES } from './entities/roles.js'
export { changeOwnRole, deleteUser, restoreUser, updateUser } from './entities/user-changes.js'
export type { User, UserChange, UserFields } from './entities/users.js'
export { countUsers, createUser, EMAIL, findUserByEmail, getUser, listUsers } from './entities/users.js'
export type { UpstreamFailure } from './errors.js'
export { ApiError, StorageError, UpstreamError } from './errors.js'
export type { Commit, Entry, Health, JsonValue, Key, KV, KVCapabilities, ListOptions, Page } from './kv/kv.js'
export { entriesOf, update } from './kv/kv.js'
export type { ListPage, PageOptions } from './kv/pages.js'
export type { KVLog, LogEntry } from './kv/kv-log.js'
export type { MemoryKVOptions } from './kv/memory-kv.js'
export { memoryKV } from './kv/memory-kv.js'
export { expireRecords } from './ledger/expire-records.js'
export type { Budget, BudgetOf, BudgetUse, Hold, LimitOf, Most, TokensOf } from './ledger/holds.js'
export type { UsageHour, UsageLedger, UsageOf, UsagePart } from './ledger/ledger.js'
export type { Fields, HourOf, PartOf, TotalOf, UsageTotals } from './ledger/totals.js'
export { usageLedger } from './ledger/usage-ledger.js'
export type { FailedCall, Outcome, UsageRecord } from './ledger/usage-record.js'
export { cost, ratesFor, toUsd } from './prices/cost.js'
export { fromLitellm } from './prices/from-litellm.js'
export { fromModelsDev } from './prices/from-models-dev.js'
export type { ImportedPrices } from './prices/imported-prices.js'
export { modelsFromModelsDev } from './prices/listed-models.js'
export { parsePrice, parsePrices } from './prices/parse-prices.js'
export type {
  ListedModel,
  Origin,
  Price,
  PriceRow,
  PriceSource,
  PriceTable,
  Rates,
  UnitClass,
  Units,
} from './prices/price.js'
export type { LivePrices, LivePricesOptions } from './prices/price-source.js'
export { fixedPrices, livePrices } from './prices/price-source.js'
export { priceTable } from './prices/price-table.js'
export { unitsOf } from './prices/units.js'
export type {
  ChatProvider,
  ChatStream,
  ChunkChoice,
  ChunkHead,
  Completion,
  EmbeddingAnswer,
  FileInput,
  ImageAnswer,
  Learnt,
  Memory,
  Note,
  OwnModel,
  Provider,
  Signal,
  SpeechAnswer,
  TranscriptionAnswer,
  TranscriptionRequest,
  UpstreamCall,
} from './provider.js'
export type { RateLimit, RateLimiter } from './rate-limiter.js'
export { memoryRateLimiter } from './rate-limiter.js'
export type {
  CallOptions,
  Choice,
  Considered,
  Need,
  Preview,
  Probe,
  ProviderHealth,
  ProviderState,
  RecentChoice,
  Router,
  RouterState,
  Target,
  CallKind,
} from './router.js'
export {
  SpeechFormat,
  SpeechRequest,
  TranscriptionFields,
  TranscriptionFormat,
  TranscriptionResponse,
} from './schemas/audio.js'
export {
  ChatChunk,
  ChatCompletion,
  ChatCompletionRequest,
  ChatDelta,
  ChatMessage,
  ContentPart,
  FinishReason,
  ToolCall,
  ToolCallDelta,
  ToolChoice,
  ToolDefinition,
  Usage,
} from './schemas/chat.js'
export { EmbeddingRequest, EmbeddingResponse } from './schemas/embeddings.js'
export { ErrorBody, PlatformErrorBody } from './schemas/error.js'
export { ImageRequest, ImageResponse } from './schemas/images.js'
export { Capability, Fidelity, Model, ModelList } from './schemas/models.js'
export { UsageEntry, UserUsage } from './schemas/usage.js'
export { verifyStore } from './verify.js'
