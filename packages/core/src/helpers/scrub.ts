import { KEY_PREFIX, TOKEN_PREFIX } from '../conventions.js'

const HIDDEN = '[redacted]'

/** How values are called that are secrets, at the end of a name. */
const secrets = String.raw`api[-_ ]?key|account[-_]?key|authorization|credentials?|passw(?:or)?d|passphrase|_pass|pwd|secret|sig(?==)`

/** What more than one word tells: the credentials of HTTP, and values that are called a secret. Numbers are counts of tokens. */
const phrases = new RegExp(
  [
    String.raw`\b(?:Bearer|Basic)\s+\S+`,
    String.raw`(?<![\w-])(?:[\w-]{0,40}(?:${secrets})|(?:(?:access|api|auth|id|refresh|session)[-_]?)?token)[\\"']*\s*[:=]\s*(?!\d+\b)(?:[\\"']*(?:Bearer|Basic)\s+)?\S+`,
  ].join('|'),
  'gi',
)

/** What an account or a part of it is called behind its kind: it has a digit, and is not a number of something. Of a group of resources, any name. */
const named =
  /\b((?:account|project|subscription|tenant|directory|workspace|organi[sz]ation)(?: (?:id|number|name))?[\s:='"`(]+(?!\d{1,8}(?![\w-]))(?=[\w.-]*\d)|resource group[\s:='"`(]+)[\w.-]+/gi

/** What a word of an error must not be, or contain. */
const telling = [
  // Keys, by the prefixes that vendors give them so that they can be found.
  new RegExp(
    `(^|[^a-z0-9])((sk|pk|rk|xai|gsk|hf|r8|npm|pplx|nvapi|glpat|tvly|xox[a-z])[-_]|${KEY_PREFIX}|${TOKEN_PREFIX}|gh[a-z]_|github_pat_|AIza|ya29|eyJ|(AKIA|ASIA)[A-Z0-9])[\\w*.-]{6,}`,
    'i',
  ),
  // Accounts: organisations, projects and e-mail addresses.
  /\b(org|proj)[-_]\w{6,}/i,
  /^(projects?(_number)?|organizations?|accounts?)[:/=]/i,
  /[^@]@[^@]/,
  // Accounts of AWS and projects of Google by their numbers, and what AWS has in them.
  /^\d{12}[.:!?]*$/,
  /^arn:/i,
  // Addresses: URLs of any scheme, of IPv4 and IPv6, hosts with a port, and files.
  /:\/\//,
  /\d{1,3}\.\d{1,3}\.\d{1,3}\.\d{1,3}/,
  /^[\da-f]{0,4}:[\da-f]{0,4}:[\da-f:.]*(%\w+)?$/i,
  /^[a-z][\w.-]*:\d{2,5}\b/i,
  /(?:^|[=:])(?:~|\.{1,2})?\/(?!v\d)[\w.-]+\/[\w.-]/,
  /^(?:~|\.\.)\/\w/,
  /^[a-z]:[\\/]\w/i,
  /^\\\\\w/,
  // Names of hosts, by how they end.
  /\w\.(ai|app|cloud|cluster|com|corp|dev|home|internal|intranet|io|lan|local|localdomain|localhost|net|org|svc)(?:\.?$|\/)/i,
]

/** The fewest characters of a secret without a known prefix. */
const SECRET = 20
/** Ids that vendors and callers give to calls: a message that names one is of no use without it. */
const ids = /^(call|toolu|fc|msg|chatcmpl|req)_/
/** Whether a word looks random: long, with digits between letters of both cases, or hexadecimal. A sentence may end behind it. */
const isRandom = (word: string): boolean =>
  word.length >= SECRET &&
  !ids.test(word) &&
  (/^[\da-f]{32,}[.:!?]*$/i.test(word) ||
    [/^[\w+/=]+[.:!?]*$/, /[a-z]/, /[A-Z]/, /\d\D*\d/].every((form) => form.test(word)))

/** Characters between words; a field such as `messages[0].content` is several. */
const words = /[^\s"'`,;()<>[\]{}|]+/g

/** Characters that are read of a text, of which an error keeps 1,000. */
const READ = 10_000

/**
 * Upstream text without what has the form of a key, an account or an address: each is replaced by `[redacted]`. A name that looks like any
 * other word stays. What comes behind 10,000 characters is left out.
 */
export const scrub = (text: string): string =>
  text
    .slice(0, READ)
    .replace(phrases, HIDDEN)
    .replace(named, `$1${HIDDEN}`)
    .replace(words, (word) =>
      word !== 'redacted' && (isRandom(word) || telling.some((form) => form.test(word))) ? HIDDEN : word,
    )

/** Characters of a path that an error names. */
const PATH = 100

/** The path of a request as an error may name it: without what {@link scrub} hides in a segment, and not longer than 100 characters. */
export const scrubPath = (path: string): string => path.slice(0, PATH).split('/').map(scrub).join('/')
