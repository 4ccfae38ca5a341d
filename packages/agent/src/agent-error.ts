/** Why a loop ended that people can understand, as it is stored. */
export class AgentError extends Error {
  override readonly name = 'AgentError'
}
