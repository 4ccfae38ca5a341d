/** What the gateway decides by convention. What options set differently, docs/conventions.md tells. */

/** `name` in GET /. */
export const NAME = 'turnpike'
/** `version` in GET /. */
export const VERSION = '1.0.0'
/** `description` in GET /. */
export const DESCRIPTION =
  'An OpenAI-compatible AI gateway in front of OpenAI-style, Claude-style and Gemini-style providers'

/** Milliseconds until the first event of an upstream's stream. */
export const FIRST_EVENT_MS = 300_000

/** Milliseconds until an upstream's whole answer where it does not stream, as long as OpenAI's clients wait. */
export const WHOLE_ANSWER_MS = 600_000

/** Milliseconds between two events of an upstream's stream. */
export const BETWEEN_EVENTS_MS = 120_000

/** Seconds for Retry-After where an upstream's 429 states none. */
export const RETRY_AFTER_S = 1

/** Requests with a key that one process serves at a time; one more is a 503. */
export const MAX_IN_FLIGHT = 4_096

/** The part of them that is served first come, first served; the rest is reserved for keys below their fair share. */
export const COMMON_PART = 0.8

/** The part of them from which on only users below their fair share are served, whatever keys they have. */
export const KEYS_PART = 0.9

/**
 * Fields of a JSON body of whoever has no key but is signed in: two thousand messages with calls. Fields cost far more than their bytes, and anybody
 * may have an account.
 */
export const SIGNED_IN_FIELDS = 25_000

/** Seconds for Retry-After where a key has as many requests at a time as it may. */
export const KEY_RETRY_AFTER_S = 1

/** The maximum for Retry-After, in seconds, where the process is full. The minimum is 1. */
export const LONGEST_RETRY_AFTER_S = 30

/** How many refused requests get the same Retry-After from a full process. */
export const RETRIES_PER_S = 1_000

/** Milliseconds that running requests have to end after a shutdown began. */
export const DRAIN_MS = 30_000

/** Milliseconds for which an upstream's stream may continue after its first event and after its client has disconnected, where it is drained. */
export const ABANDONED_MS = 600_000

/** Output tokens that are assumed where the request sets no maximum. */
export const EXPECTED_OUTPUT_TOKENS = 1_024

/** Output tokens that are held where neither the request nor the catalogue sets a maximum: the most that any listed model makes. */
export const MOST_OUTPUT_TOKENS = 128_000

/** The context window that is assumed of a model that the catalogue does not list. */
export const MOST_CONTEXT_TOKENS = 1_050_000

/** Tokens that are expected of a picture in a prompt. Claude's have at most 1,600 by its older rule, OpenAI's 1,445. */
export const PICTURE_INPUT_TOKENS = 1_600

/** The most tokens that are held for a picture in a prompt: Claude's newer models have 4,784; gpt-4o-mini counts each as 33 of gpt-4o. */
export const MOST_PICTURE_TOKENS = { mini: 48_000, other: 6_000 }

/** Bytes of a document or video in a prompt for each token that is expected of it; at least {@link PICTURE_INPUT_TOKENS}. */
export const BYTES_PER_TOKEN = 64

/** Tokens that are expected of a picture of the quality `hd`, and held for any: those of gpt-image-1's largest one. */
export const HD_PICTURE_TOKENS = 6_240

/** The model of embeddings, and its `dimensions` where a request gives none. */
export const EMBEDDING = { model: 'gemini-embedding-001', dimensions: 768 }

/** Numbers of a vector that are expected where a request gives no `dimensions`. */
export const VECTOR_LENGTH = 1_536

/** Texts that are embedded by a request, as decimals or in base64, which takes a quarter of the time; each further so many count as another one. */
export const EMBEDDED_TEXTS = { float: 100, base64: 500 }

/** Characters of the vectors of an answer that are sent at once; further ones follow in pieces of as many, with turns of other requests in between. */
export const VECTORS_LENGTH = 128 * 1024

/** Characters that a number of a vector takes in JSON: a float of 32 bits as a decimal of a double. */
export const NUMBER_LENGTH = 20

/** Models of images, the default first. */
export const IMAGE_MODELS = ['gemini-2.5-flash-image', 'gpt-image-2', 'dall-e-3']

/** Models of speech; an option for hosts with others. */
export const SPEECH_MODELS = ['tts-1', 'tts-1-hd']

/** Voices; an option. The first is taken where it is left open. */
export const VOICES = ['alloy', 'echo', 'fable', 'onyx', 'nova', 'shimmer']

/** Models of transcription. */
export const TRANSCRIPTION_MODELS = ['whisper-1']

/** Audio tokens that are held under a budget for speech with instructions, which may make it as long as the model can: 11 minutes. */
export const MOST_SPEECH_TOKENS = 16_384

/** The fewest bytes that a second of MP3 takes: 8 kbit/s (ISO/IEC 13818-3). What is held under a budget reckons with no fewer. */
export const MP3_BYTES_PER_SECOND = 1_000

/**
 * Likewise of other formats that compress, as encoders make them, for calls that were given up: Opus has silence in a packet of some bytes each 400 ms
 * (RFC 6716, section 2.1.9), besides those of its file.
 */
export const LEAST_BYTES_PER_SECOND = 40

/**
 * The longest duration that an upstream is believed, in seconds: 116 days. It is held for formats whose bytes tell none: FLAC has silence in three bytes a
 * second, and in fewer at low sample rates, and the table of an MP4 may have one sound any number of times.
 */
export const MOST_SECONDS = 10_000_000

/** Taken as 25 · 1024² bytes, as OpenAI does. */
export const AUDIO_LIMIT = 25 * 1024 * 1024

/** Characters of the requested model that are logged, because it is the caller's text. */
export const LOGGED_MODEL = 100

/** Hours that the paths of administrators sum up at most. */
export const MAX_HOURS = 720

/** Hours of GET /admin/metrics where none are asked for. */
export const METRICS_HOURS = 24

/** Hours of GET /admin/usage/hours where none are asked for: a week. */
export const SERIES_HOURS = 168

/** Events that are kept for readers who come later. */
export const EVENTS_KEPT = 1_000

/** Events that wait for a slow reader; older ones are dropped, and the event `dropped` has their number. */
export const EVENTS_WAITING = 1_000

/** Milliseconds for which failed requests are kept: seven days. */
export const FAILED_MS = 7 * 86_400_000

/** Failed requests that a process keeps in an hour: of each user, of all callers that are not known, and in all. */
export const FAILED_HOURLY = { each: 100, all: 1_000 }

/** Milliseconds for which failed requests are collected before they are stored. */
export const HISTORY_MS = 1_000

/** Milliseconds after which a stream of events ends, so that its reader must authenticate again when it reconnects, as `EventSource` does. */
export const EVENTS_MS = 60_000

/** Milliseconds that a call of a guard may take. */
export const GUARD_MS = 30_000

/** Characters of a stream that are held back for a guard of its texts: more than an address, a number of a card or a key has. */
export const LOOK_BACK = 200
