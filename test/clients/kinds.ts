import { aiCompatibleClient, aiOpenaiClient } from './ai-clients.js'
import type { ClientKind } from './client.js'
import { langchainClient } from './langchain-client.js'
import { openai4Client, openaiClient } from './openai-client.js'

/** The clients that every scenario runs with. */
export const kinds: ClientKind[] = [openaiClient, openai4Client, aiCompatibleClient, aiOpenaiClient, langchainClient]
