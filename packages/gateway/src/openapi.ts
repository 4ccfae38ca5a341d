/** The gateway as an OpenAPI 3.1 document. @module */
import {
  ChatChunk,
  ChatCompletion,
  ChatCompletionRequest,
  ChatMessage,
  ContentPart,
  EmbeddingRequest,
  EmbeddingResponse,
  ErrorBody,
  ImageRequest,
  ImageResponse,
  KEY_PREFIX,
  Model,
  ModelList,
  SpeechRequest,
  ToolCall,
  ToolDefinition,
  TranscriptionResponse,
  Usage,
  UsageEntry,
  UserUsage,
} from '@turnpike/core'
import { CustomToolCall } from '@turnpike/core/internal'
import type { OpenApiDocument } from '@turnpike/http/openapi'
import { commonStatuses, openapi as documentOf, openapiRoute, ours, shown } from '@turnpike/http/openapi'
import type { GatewayParts } from './admin-routes.js'
import { DESCRIPTION, VERSION } from './conventions.js'
import { BalancerResponse, SimulatedChoice } from './operations/admin/balancer.js'
import { KeyList } from './operations/admin/keys.js'
import { MetricsResponse, ProviderMetrics } from './operations/admin/metrics.js'
import { PricingResponse } from './operations/admin/pricing.js'
import { ConfiguredProviders, ProviderProbe } from './operations/admin/providers.js'
import { UsageSeries, UsageTable } from './operations/admin/usage.js'
import { FailedRequests } from './operations/admin/failed-requests.js'
import { AuditLog, UsersSummary } from './operations/admin/users.js'
import type { GatewayRoute } from './operation.js'
import { GatewayInfo, HealthResponse, ProviderHealth, ProvidersHealth } from './operations/status.js'
import { TranscriptionForm } from './operations/transcription.js'
import { GatewayUser, GatewayUserList, NewUser } from './operations/users.js'
import { RequestEvent } from './records/request-events.js'

/** Options of {@link openapi}. */
export interface OpenApiRouteOptions {
  /** Path of the document; default `/v1/openapi.json`. */
  path?: string
  /** The document's `servers`, such as `[{ url: '/ai' }]`; default none: the root of the document's own URL. */
  servers?: { url: string; description?: string }[]
}

const [SystemMessage, DeveloperMessage, UserMessage, AssistantMessage, ToolMessage, FunctionMessage] =
  ChatMessage.options
const [TextPart, ImagePart, AudioPart, VideoPart, DocumentPart, RefusalPart] = ContentPart.options
const [FunctionTool, CustomTool] = ToolDefinition.options

/** Schemas by their names in the OpenAPI document. */
const components = {
  ChatCompletionRequest: shown(
    ChatCompletionRequest,
    'model messages stream stream_options max_tokens temperature top_p stop system tools tool_choice provider n',
  ),
  ChatMessage: shown(ChatMessage),
  SystemMessage: shown(SystemMessage, 'role content name'),
  DeveloperMessage: ours(DeveloperMessage),
  UserMessage: shown(UserMessage, 'role content name'),
  AssistantMessage: shown(AssistantMessage, 'role content name tool_calls'),
  ToolMessage: shown(ToolMessage, 'role content name tool_call_id'),
  FunctionMessage: ours(FunctionMessage),
  ContentPart: shown(ContentPart),
  ContentPartText: shown(TextPart, 'type text'),
  ContentPartImage: shown(ImagePart, 'type image_url'),
  ContentPartAudio: ours(AudioPart),
  ContentPartVideo: ours(VideoPart),
  ContentPartDocument: ours(DocumentPart),
  ContentPartRefusal: ours(RefusalPart),
  ToolDefinition: shown(ToolDefinition),
  FunctionTool: shown(FunctionTool, 'type function'),
  CustomTool: ours(CustomTool),
  ToolCall: shown(ToolCall, 'id type function'),
  CustomToolCall: ours(CustomToolCall),
  ChatCompletionResponse: shown(ChatCompletion, 'id object created model choices usage'),
  ChatCompletionChunk: ours(ChatChunk),
  Usage: shown(Usage, 'prompt_tokens completion_tokens total_tokens'),
  EmbeddingRequest: shown(EmbeddingRequest, 'input model dimensions encoding_format'),
  EmbeddingResponse: shown(EmbeddingResponse, 'object data model usage'),
  ImageGenRequest: shown(ImageRequest, 'prompt model n size quality style response_format provider'),
  ImageResponse: shown(ImageResponse, 'created data'),
  SpeechRequest: shown(SpeechRequest, 'input model voice response_format speed'),
  TranscriptionRequest: shown(TranscriptionForm, 'file model language prompt response_format'),
  TranscriptionResponse: shown(TranscriptionResponse, 'text'),
  ModelList: shown(ModelList, 'object data'),
  ModelInfo: shown(Model, 'id object provider capabilities'),
  UsageRecord: shown(UsageEntry, 'session_id model provider tokens prompt_tokens completion_tokens cost_usd timestamp'),
  UserUsageSummary: shown(UserUsage, 'user_id total_tokens total_cost records'),
  User: ours(GatewayUser),
  UserList: ours(GatewayUserList),
  NewUser: ours(NewUser),
  GatewayInfo: shown(GatewayInfo, 'name version description endpoints'),
  HealthResponse: ours(HealthResponse),
  ProviderHealth: ours(ProviderHealth),
  ProvidersHealth: ours(ProvidersHealth),
  ProviderMetrics: ours(ProviderMetrics),
  MetricsResponse: ours(MetricsResponse),
  ConfiguredProviders: ours(ConfiguredProviders),
  ProviderProbe: ours(ProviderProbe),
  PricingResponse: ours(PricingResponse),
  UsersSummary: ours(UsersSummary),
  BalancerResponse: ours(BalancerResponse),
  SimulatedChoice: ours(SimulatedChoice),
  UsageTable: ours(UsageTable),
  UsageSeries: ours(UsageSeries),
  KeyList: ours(KeyList),
  AuditLog: ours(AuditLog),
  FailedRequests: ours(FailedRequests),
  RequestEvent: ours(RequestEvent),
  Error: shown(ErrorBody, 'error'),
}

const anyKey = { security: ['gatewayKey'], errors: [401, 429, 503] }
/** A key, or an administrator; 403 is also for a user of the platform who is none. */
const administered = { security: ['gatewayKey', 'administrator'], errors: [...anyKey.errors, 403] }
const bearer = { type: 'http', scheme: 'bearer' }

/**
 * The OpenAPI 3.1 document of a gateway's routes.
 * @example const { paths } = gatewayDocument(gateway.routes)
 */
export const gatewayDocument = (
  routes: readonly GatewayRoute[],
  servers?: OpenApiRouteOptions['servers'],
): OpenApiDocument =>
  documentOf({
    info: { title: 'AI gateway', version: VERSION, description: DESCRIPTION },
    servers,
    routes,
    components,
    error: 'Error',
    statuses: {
      ...commonStatuses,
      401: 'Missing or invalid bearer token.',
      502: 'Upstream provider error.',
      503: 'Gateway unavailable.',
    },
    access: {
      open: { who: 'For anybody.', security: [], errors: [] },
      key: { who: 'For whoever has a gateway key.', ...anyKey },
      self: { who: 'For the user and for administrators.', ...administered },
      admin: { who: 'For administrators.', ...administered },
      monitor: { who: 'For administrators and monitoring.', ...administered },
    },
    securitySchemes: {
      gatewayKey: {
        ...bearer,
        description: `A gateway key, ${KEY_PREFIX}…; where there is no Authorization, in api-key or x-api-key.`,
      },
      administrator: {
        ...bearer,
        description: 'Of administrators also an access token, or ADMIN_TOKEN; of monitoring METRICS_TOKEN.',
        'x-convention': true,
      },
    },
    headers: {
      'X-Session-ID': 'Groups requests into a session; a UUID.',
      'X-Conversation-ID': 'Tags the request with a conversation; a UUID.',
      'X-Task-ID': 'Tags the request with a task; a UUID.',
      'X-Project-ID': 'Tags the request with a project; a UUID.',
      'X-Gateway-Explain': '`true` asks who answered and what it cost.',
      'X-Gateway-Warnings': 'Fields that did not reach the provider as they were given.',
      'X-Gateway-Provider': 'Where asked for: the provider that answered.',
      'X-Gateway-Attempts': 'Where asked for: calls of providers that it took.',
      'X-Gateway-Considered': 'Where asked for: the providers that were compared.',
      'X-Gateway-Fallback':
        "Where the fallback of a group answered: what one of its members had refused, `length` (the prompt's) or `content`.",
      'X-Gateway-Cost': 'Where asked for: US dollars.',
      'X-Gateway-Answered-By': 'The guard that answered in place of a provider, for nothing.',
      'Last-Event-ID': 'The last event that the reader has seen.',
    },
    shown: {
      parameters: ['model', 'id', 'provider', 'X-Session-ID', 'X-Conversation-ID', 'X-Task-ID', 'X-Project-ID'],
      statuses: [400, 401, 403, 404, 429, 500, 502, 503],
    },
  })

/**
 * GET /v1/openapi.json: the gateway's routes as an OpenAPI 3.1 document, which is made at the first request.
 * @example createGateway({ router, kv, routes: [conventionRoutes, openapi()] })
 */
export const openapi =
  ({ path = '/v1/openapi.json', servers }: OpenApiRouteOptions = {}) =>
  ({ routes }: GatewayParts): GatewayRoute[] => [
    openapiRoute(path, {
      access: 'open',
      summary: 'Describes the gateway as an OpenAPI 3.1 document.',
      document: () => gatewayDocument(routes(), servers),
    }),
  ]
