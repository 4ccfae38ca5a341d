/** The bodies of errors. */
import * as v from 'valibot'

/** The body of an error of the gateway, as OpenAI has it. */
export const ErrorBody = v.object({ error: v.object({ type: v.string(), message: v.string(), code: v.string() }) })
export type ErrorBody = v.InferOutput<typeof ErrorBody>

/** The body of an error of the platform. */
export const PlatformErrorBody = v.object({ error: v.string() })
export type PlatformErrorBody = v.InferOutput<typeof PlatformErrorBody>
