/** Settings of the platform. @module */
import type { PlatformOptions, TeamCatalog } from '@turnpike/platform'
import * as v from 'valibot'
import { SignInProviders } from './sign-in.js'
import {
  code,
  decimal,
  integer,
  list,
  MOST_RATE,
  object,
  oneOf,
  onOrOff,
  origins,
  secrets,
  section,
  setting,
  text,
  url,
} from './values.js'

const Agents = v.array(
  section({
    id: integer(0),
    name: text(),
    role: text(),
    model: v.nullable(text('the id of a model, or null')),
  }),
  'a list of agents',
)
const Teams = section({
  'software-development': setting('Those of software.', Agents),
  'content-creation': setting('Those of contents.', Agents),
  research: setting('Those of research.', Agents),
  custom: setting('Those of all others.', Agents),
})
const isCatalogue = (value: unknown): value is TeamCatalog =>
  typeof value === 'object' && value !== null && typeof (value as Partial<TeamCatalog>).team === 'function'
const TeamsMade = v.custom<TeamCatalog>(isCatalogue)

export const Platform = section({
  sessionSecret: setting(
    'What sign-ins are signed and encrypted with; default made, and kept in the store.',
    secrets(),
  ),
  passwordCost: setting('Work of hashing a password: scrypt with N = 2 to this power.', integer(8, 20), 15),
  selfRole: setting('The role that everybody may take; default user.', oneOf(['user', 'developer'])),
  userRateLimit: setting('Requests a minute of a signed-in user to models; default 60.', integer(1, MOST_RATE)),
  apiRateLimits: setting(
    'Requests a minute at /api.',
    section({
      user: setting('Of a user; default 1,200.', integer(1, MOST_RATE)),
      address: setting('Of an address, for all that come without a user; default 6,000.', integer(1, MOST_RATE)),
    }),
  ),
  planLimits: setting(
    'What users may have without extras.',
    section({
      projects: setting('Projects; default any number.', integer(0)),
      agents: setting('Agents; default any number.', integer(0)),
      storageGb: setting('Gigabytes of files; default 1.', decimal()),
      dataGb: setting('Gigabytes of everything else; default 0.25.', decimal()),
      sessions: setting('Gateway sessions; default 10,000.', integer(0)),
      tasks: setting('Tasks in all projects; default 100,000.', integer(0)),
    }),
  ),
  signInProviders: setting('Other places where people sign in; they need server.baseUrl.', SignInProviders),
  passwords: setting('Whether people sign in by password; default on.', onOrOff()),
  signUp: setting(
    'Who signs up: nobody, whoever is invited, or everybody, which needs mail; default invited.',
    oneOf(['closed', 'invited', 'open']),
  ),
  signUpDomains: setting(
    'Domains of the e-mails of those who sign up without an invitation; default all.',
    list('domains, such as ai.example', (domain) => /^[^@\s/]+\.[^@\s/]+$/.test(domain)),
  ),
  signUpBudget: setting(
    'The budget of those who make their account without an invitation; default none, which is no limit.',
    section({
      usd: v.pipe(decimal(), v.description('US dollars, in all or in each period.')),
      per: setting('The period in UTC; default all time.', oneOf(['day', 'month'])),
    }),
  ),
  linkPage: setting(
    'Where links in messages lead: a page that takes #/link?token=…; default /console of server.baseUrl.',
    url(),
  ),
  trustedOrigins: setting('Origins whose pages may send requests with the cookie of the platform.', origins()),
  bodyLimit: setting('Bytes of a JSON body at /api; default 1 MiB.', integer(1)),
  identity: setting(
    'Who sends a request; default users with passwords.',
    object<PlatformOptions['identity']>('an identity'),
  ),
  teams: setting(
    'The agents of projects by the type of their team, or in code a catalogue of teams.',
    v.lazy((given): typeof Teams | typeof TeamsMade => (isCatalogue(given) ? TeamsMade : Teams)),
  ),
  taskPolicy: setting(
    'Decides which changes of tasks are allowed.',
    code<NonNullable<PlatformOptions['taskPolicy']>>(),
  ),
  responder: setting('Writes the replies of conversations.', code<NonNullable<PlatformOptions['responder']>>()),
  onRequest: setting('Called for each finished request.', code<NonNullable<PlatformOptions['onRequest']>>()),
  routes: setting(
    'Functions that return further routes.',
    v.array(code<NonNullable<PlatformOptions['routes']>[number]>(), 'a list of functions'),
  ),
})
