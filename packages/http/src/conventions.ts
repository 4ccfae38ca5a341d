/** What the handler decides by convention. */

/** Bytes of a JSON body. */
export const BODY_LIMIT = 20 * 1024 * 1024

/**
 * Bytes that running requests hold: of their bodies, as far as these do not come with their head, and of answers that clients have not taken yet.
 */
export const BODY_MEMORY = 512_000_000

/** The length of a whole answer that fits into the kernel's buffers: a longer one is not sent once it has been written. */
export const LARGE_ANSWER = 64 * 1024

/** What a body that is waited for takes of them at least, as its connection and its request do. */
export const BODY_COST = 16 * 1024

/**
 * What a body is reckoned with once it is parsed: its bytes so many times, as it is text, values and what the upstream is sent, and so many for each
 * bracket and comma, and for each field: an array in an array takes 56, and an object with a key that no other has takes 200. Where this is less than `LARGE_ANSWER`,
 * it is not counted.
 */
export const BODY_COPIES = 3
export const VALUE_COST = 56
export const FIELD_COST = 150

/** Fields of the object that is a JSON body: what is done to a request copies it several times. */
export const BODY_FIELDS = 1_000

/** The part of what callers share that is served first come, first served; the rest is for those below their fair share. */
export const COMMON_PART = 0.8

/** Headers of every answer, of which most are for one caller alone; an operation or its answer may have others. */
export const ANSWER_HEADERS = {
  'cache-control': 'private, no-store',
  vary: 'Cookie, Authorization',
  'x-content-type-options': 'nosniff',
} as const

/** Status in logs of a request whose client disconnected, as nginx logs it. It is never sent, and it is no error of the server. */
export const CLIENT_LEFT = 499

/**
 * Milliseconds that a request body may fall behind {@link BODY_BYTES_PER_S}, and so the longest pause, after which it is refused, so
 * that slow clients do not hold a slot.
 */
export const BODY_IDLE_MS = 30_000

/**
 * Bytes a second that a request body has to arrive at, as of Apache (mod_reqtimeout, `MinRate`). No time in all is set, because a
 * large file may take hours: a body of n bytes has n / 500 seconds, and 30 more.
 */
export const BODY_BYTES_PER_S = 500

/** Milliseconds for which a client may take nothing of its answer, as nginx has it (`send_timeout`). */
export const ANSWER_IDLE_MS = 60_000

/** Silence after which a stream carries a comment, in milliseconds, so that proxies do not time it out. */
export const HEARTBEAT_MS = 15_000

/** Bytes of a request's head. */
export const HEADER_LIMIT = 16_384

/** Milliseconds in which a request's head has to arrive. */
export const HEADERS_MS = 20_000

/**
 * Milliseconds for which a connection is kept open between two requests. Longer than common proxies do (60 s), so that they do not
 * reuse a connection that the server is closing; Node's default is 5 s.
 */
export const KEEP_ALIVE_MS = 65_000

/** Seconds of the same on Bun during and after a stream: the longest that it takes, and longer than streams are silent. */
export const STREAM_IDLE_S = 255

/** Requests of a connection that wait for the answer to an earlier one (pipelining); one more closes the connection. */
export const PIPELINED = 16

/** Bytes of a form besides its file, which are other fields, part headers and boundaries. */
export const FORM_OVERHEAD = 1024 * 1024

/** Fields of a form besides its file. */
export const FORM_FIELDS = 64

/** Bytes of one field of a form. */
export const FORM_FIELD_BYTES = 64 * 1024

/** Bytes of the name of a field of a form. */
export const FORM_NAME_BYTES = 100

/** Bytes of a received file that stay in memory; a larger one is written to a temporary file. */
export const FILE_MEMORY = 256 * 1024

/** Entries per read of a list that is sent whole. */
export const ENTRIES_PER_READ = 400

/** Seconds for which browsers keep the answer to a preflight. */
export const PREFLIGHT_S = 600
