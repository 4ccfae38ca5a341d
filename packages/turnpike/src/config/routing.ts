import * as v from 'valibot'
import { isTree } from './tree.js'
import { either, flag, integer, matching, MAX_MS, positive, section, setting, text } from './values.js'

const STATUSES = 'statuses from 500 to 599, such as 500,502,504,520'
const Statuses = v.pipe(
  v.union(
    [
      v.array(v.number(STATUSES), STATUSES),
      v.pipe(
        v.string(),
        v.transform((value) => value.split(',').map(Number)),
      ),
    ],
    STATUSES,
  ),
  v.check((all) => all.every((status) => Number.isInteger(status) && status >= 500 && status <= 599), STATUSES),
)

export const isWord = (word: string): boolean => /^\S+$/.test(word)
const word = (expected: string) => matching(/^\S+$/, expected)

const attemptSettings = {
  failoverStatuses: setting('Further statuses of a provider after which the next one is tried.', Statuses),
  retries: setting('How often busy providers are tried again after all have been tried; default 0.', integer(0, 100)),
  maxWaitMs: setting('Longest wait before that, in milliseconds; default 2,000.', integer(0, MAX_MS)),
}

const GROUPS = 'groups of models, such as fast=gpt-4o-mini,gemini-2.5-flash;smart=gpt-5'
const MEMBERS = 'a list of models, each an id or { model, weight }'
const Weighted = section({ model: word('the id of a model'), weight: positive() })
const Id = word('the id of a model')
const Members = v.pipe(v.array(either(isTree, Weighted, Id), MEMBERS), v.minLength(1, MEMBERS))
const Group = section({
  models: v.pipe(
    Members,
    v.description('Its models in order of preference; those with a weight that follow one another share the calls.'),
  ),
  contextFallback: setting(
    'The model to try where a prompt is longer than the context of a member.',
    word('the id of a model'),
  ),
  contentFallback: setting(
    'The model to try where the content filter of a member refused the request.',
    word('the id of a model'),
  ),
  ...attemptSettings,
})
export const NamedGroups = v.record(word('a name without spaces'), either(isTree, Group, Members), GROUPS)
const GroupsText = v.pipe(
  v.string(GROUPS),
  v.transform((value) =>
    value.split(';').map((group): [name: string, models: string[]] => {
      const [name = '', ...models] = group.split(/[=,]/)
      // One `=`, after the name.
      return group.indexOf('=') === name.length && group.lastIndexOf('=') === name.length ? [name, models] : ['', []]
    }),
  ),
  v.check((groups) => groups.every(([name, models]) => [name, ...models].every(isWord) && models.length > 0), GROUPS),
  v.transform((groups): Record<string, string[]> => Object.fromEntries(groups)),
)
const Groups = either(isTree, NamedGroups, GroupsText)

export const Routing = section({
  groups: setting('Groups of models, each in order of preference.', Groups),
  defaults: setting(
    'The models of agents.',
    section({
      agent: setting('A model, or a group; default a mid-size one of the first provider.', text()),
      agentAlternative: setting('The one to use where that fails; default one of another provider.', text()),
    }),
  ),
  sticky: setting(
    'Whether the requests of a session go to the same provider, so that prompts are found in its cache; default false.',
    flag(),
  ),
  ...attemptSettings,
  failures: setting('Consecutive failures after which a provider rests; default 5.', integer(1)),
  restMs: setting('Milliseconds until a request may try it again; default 30,000.', integer(1, MAX_MS)),
})
