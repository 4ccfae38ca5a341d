/** The platform as an OpenAPI 3.1 document. @module */
import { ChatChunk, PlatformErrorBody } from '@turnpike/core'
import type { OpenApiDocument } from '@turnpike/http/openapi'
import { commonStatuses, openapi as documentOf, openapiRoute, ours, shown } from '@turnpike/http/openapi'
import { BalanceAmounts, BalancePatch } from './accounts/balance-routes.js'
import { EndUserPatch } from './accounts/end-user-routes.js'
import { NewUser, UserPatch } from './accounts/user-bodies.js'
import { COOKIE, VERSION } from './conventions.js'
import { NewMessage } from './conversations/conversation-routes.js'
import { FilePatch, NewFile } from './files/file-routes.js'
import { KeyPatch, NewKey } from './keys/key-fields.js'
import { NewMember } from './members/member-routes.js'
import type { PlatformRoute } from './operation.js'
import { NewProject, ProjectPatch } from './projects/project-routes.js'
import { AttachedFile, Member, Share } from './schemas-members.js'
import { Invitation, Link, SentLink, SignInOptions } from './schemas-people.js'
import {
  AccountLimits,
  Agent,
  AuthSession,
  BrowserSession,
  Conversation,
  GatewayKey,
  EndUser,
  Message,
  Project,
  Result,
  Session,
  Task,
  TaskRevision,
  TaskState,
  Token,
  Team,
  User,
  UserBalance,
  UserFile,
  UserSignIn,
} from './schemas.js'
import { NewSession } from './sessions/session-routes.js'
import { SignIn } from './sign-in/auth-routes.js'
import { NewInvitation } from './sign-in/invitation-routes.js'
import { NewTask, TaskPatch } from './tasks/task-routes.js'
import { KeysUsage, Spend, TaskSpend, UsageReport } from './usage/usage-schemas.js'

/** Options of {@link openapi}. */
export interface OpenApiRouteOptions {
  /** Path of the document; default `/api/openapi.json`. */
  path?: string
  /** The document's `servers`, such as `[{ url: '/app' }]`; default none: the root of the document's own URL. */
  servers?: { url: string; description?: string }[]
}

/** Schemas by their names in the document. */
const components = {
  User: shown(User, 'id email first_name last_name username role provider deleted_at created_at'),
  UserBalance: shown(
    UserBalance,
    'id user_id credit_coins storage_gb extra_projects extra_agents created_at updated_at',
  ),
  AccountLimits: ours(AccountLimits),
  AuthSession: shown(AuthSession, 'access_token refresh_token token_type expires_in expires_at user'),
  BrowserSession: ours(BrowserSession),
  SignInOptions: ours(SignInOptions),
  Link: ours(Link),
  SentLink: ours(SentLink),
  Invitation: ours(Invitation),
  Session: shown(
    Session,
    'id user_id label prompt_tokens completion_tokens total_tokens request_count cost_usd metadata expires_at created_at updated_at',
  ),
  GatewayKey: shown(GatewayKey, 'id name key rate_limit revoked created_at'),
  KeysUsage: ours(KeysUsage),
  Project: shown(Project, 'id name team_type color description user_id created_at updated_at'),
  Member: ours(Member),
  Share: ours(Share),
  Task: shown(
    Task,
    'id project_id title description status assigned_agent_id requires_user_approval output draft_output review_comments created_at updated_at',
  ),
  TaskState: ours(TaskState),
  Token: ours(Token),
  UserSignIn: ours(UserSignIn),
  TaskRevision: shown(TaskRevision, 'id task_id output created_at'),
  Message: shown(Message, 'id role text timestamp'),
  Conversation: shown(Conversation, 'id project_id messages'),
  ChatChunk: ours(ChatChunk),
  UserFile: shown(UserFile, 'id display_name mime_type size_bytes is_public url storage_key deleted_at created_at'),
  AttachedFile: ours(AttachedFile),
  NewFile: ours(NewFile),
  FilePatch: ours(FilePatch),
  Agent: ours(Agent),
  Team: ours(Team),
  Result: ours(Result),
  Spend: ours(Spend),
  TaskSpend: ours(TaskSpend),
  UsageReport: ours(UsageReport),
  SignIn: ours(SignIn),
  NewUser: ours(NewUser),
  UserPatch: ours(UserPatch),
  NewInvitation: ours(NewInvitation),
  BalancePatch: ours(BalancePatch),
  BalanceAmounts: ours(BalanceAmounts),
  NewKey: ours(NewKey),
  KeyPatch: ours(KeyPatch),
  EndUserPatch: ours(EndUserPatch),
  EndUser: ours(EndUser),
  NewSession: ours(NewSession),
  NewProject: shown(NewProject, 'name teamType color description'),
  ProjectPatch: shown(ProjectPatch, 'name teamType color description'),
  NewMember: ours(NewMember),
  NewTask: shown(NewTask, 'projectId title description assignedAgentId requiresUserApproval'),
  TaskPatch: shown(TaskPatch, 'status output draft_output review_comments'),
  NewMessage: ours(NewMessage),
  Error: shown(PlatformErrorBody, 'error'),
}

const signedIn = { security: ['accessToken', 'sessionCookie'], errors: [401, 403, 429, 503] }

/**
 * The OpenAPI 3.1 document of a platform's routes.
 * @example const { paths } = platformDocument(platform.routes)
 */
export const platformDocument = (
  routes: readonly PlatformRoute[],
  servers?: OpenApiRouteOptions['servers'],
): OpenApiDocument =>
  documentOf({
    info: {
      title: 'Platform',
      version: VERSION,
      description: 'Sign-in, users, balances, gateway keys, sessions, projects, tasks, conversations and files.',
    },
    servers,
    routes,
    components,
    error: 'Error',
    statuses: {
      ...commonStatuses,
      401: 'Missing or invalid access token or session cookie.',
      409: 'The reply was stopped before it began.',
      502: 'The model that replies failed.',
      503: 'Too many people are signing in, no model can reply, or the storage cannot be used at the moment.',
    },
    access: {
      open: { who: 'For anybody.', security: [], errors: [429, 503] },
      user: { who: 'For whoever is signed in.', ...signedIn },
      developer: { who: 'For developers and administrators.', ...signedIn },
      admin: { who: 'For administrators.', ...signedIn },
    },
    securitySchemes: {
      accessToken: { type: 'http', scheme: 'bearer', bearerFormat: 'JWT', description: 'An access token.' },
      sessionCookie: { type: 'apiKey', in: 'cookie', name: COOKIE, description: 'A session cookie.' },
    },
    headers: {
      'Set-Cookie': 'The session cookie, where it is set or ended.',
      Location: 'Where the browser goes.',
      Accept: 'text/event-stream for the reply of the assistant as a stream.',
      'X-Message-ID': 'The id of the message that was stored, where a reply is streamed.',
      'X-Reply-ID': 'The id of the reply.',
      ETag: 'The version of the answer.',
      'If-None-Match': 'The ETag of an answer of before: 304 where nothing has changed since.',
      Link: 'Where another page follows: its address, with rel="next".',
    },
    shown: { parameters: ['id'], statuses: [400, 401, 403, 404, 429, 500] },
  })

/**
 * GET /api/openapi.json: the platform's routes as an OpenAPI 3.1 document, which is made at the first request.
 * @example createPlatform({ kv, identity, routes: [openapi()] })
 */
export const openapi =
  ({ path = '/api/openapi.json', servers }: OpenApiRouteOptions = {}) =>
  ({ routes }: { routes: () => readonly PlatformRoute[] }): PlatformRoute[] => [
    openapiRoute(path, {
      access: 'open',
      summary: 'Describes the platform as an OpenAPI 3.1 document.',
      document: () => platformDocument(routes(), servers),
    }),
  ]
