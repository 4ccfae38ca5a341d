import { aiCompatibleClient, aiOpenaiClient } from './ai-clients.js'
import type { ClientKind } from './client.js'
import { openaiClient } from './openai-client.js'

/** The clients that every scenario runs with. */
export const kinds: ClientKind[] = [openaiClient, aiCompatibleClient, aiOpenaiClient]
