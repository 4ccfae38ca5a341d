import type { Family } from './families/family.js'
import type { Passed } from './passed.js'
import type { Script } from './script.js'

export const suites = ['translation', 'streams', 'faults', 'specification', 'models', 'servers'] as const
/** A group of cases. */
export type Suite = (typeof suites)[number]

/** A request to the gateway, what its upstream does with it, and what both sides must have got in the end. */
export interface Case {
  /** Unique within its suite and family. */
  name: string
  suite: Suite
  family: Family
  /** The model that is asked for: one of the vendor's, or in the suite `servers` one of others that a server with OpenAI's API has. Default the family's. */
  model?: string
  /** Where the rule comes from, in a line. */
  source: string
  /** The body of the request, to which the runner adds the family's model and `max_tokens`; a text is sent as it is. */
  request: object | string
  /** The path below `/v1`; default `/chat/completions`. */
  path?: string
  /** Default `POST`. */
  method?: 'GET' | 'POST'
  /** How the request is authorised, if not with the gateway's key; `wrong` = with one that nobody was given. */
  key?: 'none' | 'wrong'
  /** What the upstream does with each request that its vendor would accept. */
  script: Script
  /** The body of a second request, by what came of the first. {@link check} then gets what came of the second, and in `sent` the requests of both. */
  next?: (passed: Passed) => object
  /** Disconnects the client: once a part of the answer has been received, or once the upstream has the request. */
  leaves?: 'in the answer' | 'before the answer'
  /** The request is one to refuse: the gateway may do so by itself, or pass on the vendor's refusal. Default false. */
  invalid?: boolean
  /** Not every vendor can do what is asked, so that the gateway may refuse it, without {@link check}. Default false. */
  unsupported?: boolean
  /** Throws if one side did not get what the rule demands. */
  check(passed: Passed): void
}
