/** The two bodies of errors. */
import * as v from 'valibot'

/** Gateway error body. */
export const GatewayError = v.object({ error: v.object({ type: v.string(), message: v.string(), code: v.string() }) })
export type GatewayError = v.InferOutput<typeof GatewayError>

/** Platform error body. */
export const PlatformError = v.object({ error: v.string() })
export type PlatformError = v.InferOutput<typeof PlatformError>
