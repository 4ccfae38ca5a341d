/** The platform around the gateway: sign-in, users, balances, keys, sessions, projects, tasks, conversations and files. @module */
export type { UserGateway } from './browser-gateway.js'
export type { Caller } from './caller.js'
export type { Conversation, Message } from './entities/conversations.js'
export type { FileFields, StoredFile } from './entities/files.js'
export type { ProjectFields } from './entities/projects.js'
export type { NewTask, TaskChange } from './entities/tasks.js'
export type { CheckedUpload, FilesOptions, UploadCheck, UploadVerdict } from './files/options.js'
export { gatewayResponder } from './gateway-responder.js'
export { chainIdentity } from './identity/identity.js'
export type {
  AuthSession,
  Head,
  Identified,
  Identity,
  Issued,
  SessionIssuer,
  SignOutScope,
} from './identity/identity.js'
export type { JwksIdentityOptions } from './identity/jwks-identity.js'
export { jwksIdentity } from './identity/jwks-identity.js'
export { limitGuesses } from './identity/limit-guesses.js'
export type { PasswordAuth } from './identity/password-auth.js'
export type { PasswordAuthOptions } from './identity/password-auth-options.js'
export { passwordAuth } from './identity/password-auth.js'
export type { PasswordHasher } from './identity/passwords.js'
export { scryptHasher } from './identity/passwords.js'
export type { SignInLimits } from './identity/sign-ins.js'
export type { Access, PlatformRoute } from './operation.js'
export type { PlanLimits } from './operations/balances.js'
export type { FileUpload } from './operations/files.js'
export type { TaskPolicy } from './operations/tasks.js'
export type { KeyLimits } from '@turnpike/core'
export type { SelfRole, UserInput } from './operations/users.js'
export type { Operations, Platform, PlatformOptions } from './platform.js'
export { createPlatform, isPlatformPath } from './platform.js'
export type { ReplyChunk, ReplyRequest, Responder } from './responder.js'
export type { Project, Result, Task, TaskRevision, TaskStatus, TeamType } from './schemas.js'
export type { Agent, Team, TeamCatalog } from './teams.js'
export { fixedTeams } from './teams.js'
export { verifyPlatform } from './verify.js'
