/** What the platform decides: numbers, names and life times. docs/conventions.md tells which are defaults of options. */

/** Seconds until an access token expires. */
export const ACCESS_TOKEN_S = 900

/** Days without use after which a sign-in ends, and days after which it ends in any case. */
export const IDLE_DAYS = 7
export const ABSOLUTE_DAYS = 30

/** Seconds for which the refresh token before the current one is answered with that, so that several tabs can refresh at once. */
export const REUSE_S = 10

/** Sign-ins that a user may have at a time; the oldest ends where there are more. */
export const SIGN_INS = 20

/** Characters of the `User-Agent` and of the address that are stored of a sign-in. */
export const ORIGIN_LENGTH = { agent: 256, address: 64 }

/** Who issues the access tokens, and whom they are for. */
export const ISSUER = 'turnpike'
export const AUDIENCE = 'turnpike'

/** Seconds that a token may be from the future, where the clocks of two machines differ. */
export const CLOCK_S = 60

/** Seconds for which a new signing key is published before it is used, and for which a retired one verifies beyond its last token. */
export const KEY_PUBLISHED_S = 600
export const KEY_RETIRED_S = 120

/** Failed sign-ins a minute with one e-mail from unknown devices, on one known device, and from one address; 429 beyond. */
export const FAILURES_PER_EMAIL = 5
export const FAILURES_PER_DEVICE = 5
export const FAILURES_PER_ADDRESS = 30

/** Minutes for which a network that failed with an e-mail may not try it again while others have used up its failures. */
export const QUIET_MINUTES = 60

/**
 * What attempts to sign in share by the first bits of their address. `places` of them are in the queue at a time, and whose
 * attempts of late are the smallest part of their `places` comes first. `failures` is how many times those of an address are free.
 */
export const NETWORKS = {
  ipv4: [
    { bits: 32, places: 8, failures: 1 },
    { bits: 24, places: 16 },
  ],
  ipv6: [
    { bits: 64, places: 8, failures: 1 },
    { bits: 56, places: 12, failures: 2 },
    { bits: 48, places: 16, failures: 4 },
    { bits: 32, places: 24 },
  ],
} as const
/** The places of a device, or an address, that signed in before. Those of the networks of such an address are in proportion. */
export const KNOWN_PLACES = 32
/** Addresses that a user makes known by signing in at most, a day. */
export const KNOWN_ADDRESSES = 10
/** The places of all attempts together where the host tells no addresses. */
export const NO_ADDRESS_PLACES = 24
/**
 * What attempts of unknown addresses count as at least, in parts of their `places`, so that whoever tries again in a flood from ever
 * new addresses is not behind all of them: from anywhere, and from the neighbourhood of an address that signed in before.
 */
export const LEAST_LOAD = { unknown: 0.7, neighbour: 0.35 }
/** The first bits of its address that an address shares with its neighbourhood. */
export const NEIGHBOURHOOD = { ipv4: 16, ipv6: 32 }

/** Days for which a device and an address are known after they signed in. */
export const DEVICE_DAYS = 180
export const ADDRESS_DAYS = 30

/** The e-mails that a device is known for at most; the last ones count. */
export const DEVICE_EMAILS = 4

/** Days for which the audit log keeps sign-ins, sign-outs and failures. */
export const SIGN_IN_LOG_DAYS = 30
/**
 * What the audit log takes a minute: failed sign-ins with one e-mail, with all e-mails that users have and with all others, as with
 * guessed tokens of one address and of all; sign-ins, sign-outs, refresh tokens that were used again, changes of the own role and
 * deletions of projects, each, of one user.
 */
export const AUDIT_LOG = { same: 1, ofUsers: 60, ofUnknown: 10, perUser: 10 }

/** Characters of a password, and bytes that are hashed at most. */
export const PASSWORD_LENGTH = { min: 8, max: 256 }
export const PASSWORD_BYTES = 1_024

/** Minutes for which a link sets a password, once. */
export const LINK_MINUTES = 30
/** Links that are sent to one e-mail in as many minutes, and that one address may ask for in one; 429 beyond. */
export const LINKS_PER_EMAIL = 5
export const LINKS_PER_ADDRESS = 30

/** Days for which an invitation can be accepted, and hours for which a link finishes a sign-up. */
export const INVITATION_DAYS = 7
export const SIGN_UP_HOURS = 24
/** Who may sign up: nobody, whoever is invited, or everybody (`closed`, `invited`, `open`). */
export const SIGN_UP = 'invited'

/** Where the links of messages lead, below `baseUrl`: a page that takes `#/link?token=…`. */
export const LINK_PAGE = '/console'

/** Minutes for which a sign-in at an identity provider may take, and how many one address may begin in one; 429 beyond. */
export const PROVIDER_MINUTES = 10
export const PROVIDER_SIGN_INS = 120
/** The name of the cookie that binds it to its browser, and its name where browsers refuse the prefix. */
export const BEGUN_COOKIE = '__Host-begun'
export const PLAIN_BEGUN_COOKIE = 'begun'
/** Characters of a path that it returns to. */
export const RETURN_LENGTH = 1_000
/** Seconds and bytes of an answer of an identity provider, and seconds for which its metadata are kept. */
export const PROVIDER_S = 10
export const PROVIDER_ANSWER_BYTES = 512 * 1024
export const PROVIDER_CACHE_S = 3_600
/** Characters of an ID token that is kept with its sign-in, for the sign-out at the issuer. */
export const PROVIDER_ID_TOKEN = 8_192

/** The work of scrypt, N = 2^ln (OWASP, Password Storage Cheat Sheet). */
export const SCRYPT = { ln: 15, r: 8, p: 3 }

/** Passwords that are hashed at a time, and that wait for it; 503 beyond. Each takes 32 MiB and about 0.2 s of a core. */
export const HASHING = { running: 2, waiting: 32 }
/** Seconds that one of them waits at most; 503 then. */
export const QUEUE_S = 10

/** The name of the session cookie. The prefix binds it to its host, TLS and path `/`. */
export const COOKIE = '__Host-session'
/** Its name where the platform is served over plain HTTP from a host that is not this machine, where browsers refuse the prefix. */
export const PLAIN_COOKIE = 'session'

/** The name of the cookie by which a device is known that signed in before, and its name where browsers refuse the prefix. */
export const DEVICE_COOKIE = '__Host-device'
export const PLAIN_DEVICE_COOKIE = 'device'

/** The unit of `storage_gb`. */
export const BYTES_PER_GB = 1e9

/** What a user has without extras; null = unlimited. */
export const PLAN_LIMITS = {
  projects: null,
  agents: null,
  storageGb: 1,
  dataGb: 0.25,
  sessions: 10_000,
  tasks: 100_000,
}

/** The share of its owner's tasks and data up to which others may write into a project. */
export const OTHERS_SHARE = 0.9

/** Tokens for programs that a user may have. */
export const MOST_TOKENS = 50

/** Members of a project, with those who are invited; projects that are shared with a user. */
export const MOST_MEMBERS = 50
export const MOST_SHARED = 100

/** Invitations into projects of one owner that wait for one e-mail. */
export const MOST_OFFERED = 10

/** Bytes of data that a file counts as, besides its bytes, which count as storage; so an empty file is not free. */
export const FILE_RECORD_BYTES = 2_048

/** Characters of the metadata of a session, as JSON. */
export const METADATA_LENGTH = 16_384

/** What happens when the credits of a user are used up. */
export const BALANCE_POLICY = 'report'

/** Largest number of a balance; sums of them stay safe integers, also in tokens. */
export const MAX_BALANCE = 1_000_000_000

/** What a project has that is made without them. */
export const NEW_PROJECT = { teamType: 'custom', color: '#64748b' } as const

/** The status of a new task. */
export const NEW_TASK_STATUS = 'scheduled'

/** Characters of the name of a project or the title of a task at most. */
export const NAME_LENGTH = 1_000

/** Characters of the description, output, draft or comments of a task at most. */
export const TEXT_LENGTH = 1024 * 1024

/** Characters of the description of a project at most: whatever is done in a project reads it. */
export const PROJECT_DESCRIPTION_LENGTH = 64 * 1024

/** The last messages of a conversation that a reply is made from. */
export const REPLY_MESSAGES = 100

/** Characters of those that other members have sent or asked for at most, with their files: who asks for the reply pays for them. */
export const REPLY_OTHERS_LENGTH = 100_000

/**
 * Files of a message at most, and bytes of all files that are sent to a model for a reply; those of texts among them, which it reads as
 * tokens.
 */
export const ATTACHED = { files: 10, bytes: 8_000_000, textBytes: 400_000 } as const

/** Characters of a reply at most: more than models write, and a later reply is made from those before it. */
export const REPLY_LENGTH = 1024 * 1024

/** Seconds that a reply takes at most, whether or not somebody reads it. */
export const REPLY_S = 1_800

/** Replies of a user that are written at a time, and seconds for Retry-After where there are more. */
export const RUNNING_REPLIES = 10
export const REPLY_RETRY_AFTER_S = 5

/** Milliseconds after which what has come of a reply is stored, and characters from which on a part of it is not written again. */
export const REPLY_PART_MS = 500
export const REPLY_PART_LENGTH = 8 * 1024

/** Seconds after which a reply is ended, at most, that was stopped, or whose conversation, project or user was deleted. */
export const WANTED_CHECK_S = 1

/** Seconds without a sign of the process that writes a reply, after which the reply has broken off. */
export const REPLY_LEASE_S = 30

/** The newest revisions of a task whose cost an answer tells apart; that of older ones counts for the oldest of them. */
export const SPEND_REVISIONS = 100

/** The agents of a team, by its type. Without a model, an agent has the router's. */
export const TEAMS = {
  'software-development': [
    { id: 1, name: 'Planner', role: 'Breaks goals down into tasks', model: null },
    { id: 2, name: 'Developer', role: 'Writes and changes code', model: null },
    { id: 3, name: 'Reviewer', role: 'Reviews and tests what was written', model: null },
  ],
  'content-creation': [
    { id: 1, name: 'Editor', role: 'Plans and edits', model: null },
    { id: 2, name: 'Writer', role: 'Writes drafts', model: null },
    { id: 3, name: 'Illustrator', role: 'Describes and makes pictures', model: null },
  ],
  research: [
    { id: 1, name: 'Researcher', role: 'Finds and reads sources', model: null },
    { id: 2, name: 'Analyst', role: 'Compares and calculates', model: null },
    { id: 3, name: 'Writer', role: 'Writes reports', model: null },
  ],
  custom: [{ id: 1, name: 'Assistant', role: 'Does what it is asked', model: null }],
} as const

/** Hours of GET /api/usage at most, three months, and where none are asked for, a week. */
export const USAGE_HOURS = 2_232
export const USAGE_PERIOD_HOURS = 168

/** Rows of GET /api/usage at most, and of how many of them it has the hours. */
export const USAGE_ROWS = 500
export const USAGE_SERIES = 8

/** Sums of an hour and a model, key, session, conversation, task or project that a report may add up. */
export const USAGE_PARTS = 200_000

/** Characters that an entry counts as at least where it is read, or a sum of an hour. */
export const ENTRY_CHARACTERS = 256

/** Bytes of the body of a sign-in or a refresh, which anybody may send. */
export const AUTH_BODY_LIMIT = 16 * 1024

/** Bytes of the body that changes a task, which may carry its output twice. */
export const TASK_BODY_LIMIT = 8 * 1024 * 1024

/** Bytes of one file. */
export const FILE_LIMIT = 1_000_000_000

/** Bytes of the display name of a file, in UTF-8. */
export const FILE_NAME_BYTES = 255

/** Bytes that are reserved at a time for an upload whose length is not announced. */
export const FILE_STEP = 8 * 1024 * 1024

/** Days in the trash after which a file is removed for good. */
export const TRASH_DAYS = 30

/**
 * Seconds for which what is written of a user who was erased is still removed: by requests that were running, and, an hour later at most, by
 * holds of requests that did not end.
 */
export const ERASURE_S = 7_200

/** Seconds for which a signed URL is valid at least. */
export const FILE_URL_S = 3_600

/** Seconds for which browsers and CDNs keep a public file without asking again: it can become private. */
export const PUBLIC_FILE_S = 300

/** The role that everybody may take; a higher one takes an administrator. */
export const SELF_ROLE = 'user'

/** Gateway keys of a user that are not revoked, by the role, and requests a minute of each and of all together. */
export { KEY_LIMITS } from '@turnpike/core/internal'

/** Seconds for which a gateway key that was rotated still works at most. */
export const MOST_OVERLAP_S = 7 * 86_400

/** Requests a minute of a signed-in user through `/api/gateway/v1` and for replies in conversations. */
export const USER_RATE_LIMIT = 60

/**
 * Requests a minute at `/api`, far more than pages and programs send: of a signed-in user, and of an address for all that come without
 * a user, such as sign-ins and files by signed URLs.
 */
export const API_RATE_LIMITS = { user: 1_200, address: 6_000 }

/** The part of them that lists which have begun leave for all else: their further pages wait for the next minute. */
export const LISTS_LEAVE = 0.5

/**
 * Bytes that a request at `/api` may read, and be answered with; each so many more count as another one of the user, so that a minute's
 * requests for the largest entries do not take the whole store and process.
 */
export const REQUEST_BYTES = 256 * 1024

/** Entries of a list that a request may be answered with, for the same: the size of a page where none is asked for. */
export const REQUEST_ENTRIES = 100

/** Requests of a user at `/api` that are worked on at a time, by a process; the others wait. */
export const USER_TURNS = 16

/** Milliseconds that running replies have to end after a shutdown began. */
export const REPLY_DRAIN_MS = 30_000

/** Bytes of a JSON body, and its fields: as many as the metadata of a session have room for. */
export const PLATFORM_BODY_LIMIT = 1024 * 1024
export const PLATFORM_JSON_FIELDS = 10_000
/** Values of a JSON body: arrays, objects, and what is in them. */
export const PLATFORM_JSON_VALUES = 20_000

/** `info.version` of the OpenAPI document. */
export const VERSION = '1.0.0'
