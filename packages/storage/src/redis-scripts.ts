/** A script of Redis, run as a whole and alone. */
export interface Script {
  name: string
  lua: string
}

// A value is a string, 16 digits of its version and then JSON; a counter is a hash, `v` its version and `.name` each field.
const read = `
local function read(key, member)
  local value = redis.call('MGET', key)[1]
  if not value then return redis.call('HGETALL', key) end
  if redis.call('PTTL', key) < 0 then return value end
  return { value, redis.call('ZSCORE', KEYS[1], member) }
end
`

/**
 * KEYS: ends, prefix of the entries, then what to read. Returns for each a string, a string and the last millisecond of its time,
 * the flat list of a hash, or an empty list where there is nothing.
 */
export const GET: Script = {
  name: 'get',
  lua: `${read}
local found = {}
for i = 3, #KEYS do found[i - 2] = read(KEYS[i], string.sub(KEYS[i], #KEYS[2] + 1)) end
return found
`,
}

/**
 * KEYS: ends, prefix of the entries, index. ARGV: command, from, to, count.
 * Returns `[member, what is there]` for each member of the index, also where its entry has expired.
 */
export const LIST: Script = {
  name: 'list',
  lua: `${read}
local found = {}
for i, member in ipairs(redis.call(ARGV[1], KEYS[3], ARGV[2], ARGV[3], 'LIMIT', 0, ARGV[4])) do
  found[i] = { member, read(KEYS[2] .. member, member) }
end
return found
`,
}

/**
 * KEYS: meta, index, ends, session, prefix of the entries, then the key of each check, set, del and sum.
 * ARGV: slot and number of the commit; how many checks, sets, dels and sums;
 * then version (check); JSON and time of its end or '' (set); nothing (del); how many fields, and each field and amount (sum).
 * Returns 1 = applied, 0 = a check failed, or what is wrong: { 'set' | 'sum' | 'range', key }.
 * Nothing is written before everything is known to be right, and after its first write Redis lets a script finish.
 */
export const COMMIT: Script = {
  name: 'commit',
  lua: `
local meta, index, ends, session, prefix = KEYS[1], KEYS[2], KEYS[3], KEYS[4], KEYS[5]

-- A slot serves one commit at a time, with rising numbers. What it last came to is kept: its number where it was applied,
-- a half more where not. So a commit that comes again, or late by another connection, changes nothing.
local number = tonumber(ARGV[2])
local last = tonumber(redis.call('HGET', session, ARGV[1]) or 0)
if last >= number then return last == number and 1 or 0 end
local function remember(outcome)
  redis.call('HSET', session, ARGV[1], outcome)
  if redis.call('PTTL', session) < 43200000 then redis.call('PEXPIRE', session, 86400000) end
end
local function refuse(answer)
  remember(number + 0.5)
  return answer
end

local k, a = 5, 6
local function next_key() k = k + 1; return KEYS[k] end
local function next_arg() a = a + 1; return ARGV[a] end
local function member(key) return string.sub(key, #prefix + 1) end

local kinds, totals, writes = {}, {}, {}
local function kind(key)
  kinds[key] = kinds[key] or redis.call('TYPE', key).ok
  return kinds[key]
end
local function write(...) writes[#writes + 1] = { ... } end

for _ = 1, ARGV[3] do
  local key, version = next_key(), ''
  if kind(key) == 'string' then version = redis.call('GETRANGE', key, 0, 15) end
  if kind(key) == 'hash' then version = redis.call('HGET', key, 'v') end
  if version ~= next_arg() then return refuse(0) end
end

-- Never less than the clock, so that a version is not used again where a crash took the last second with it.
local time = redis.call('TIME')
local newest = tonumber(redis.call('HGET', meta, 'version') or 0)
local version = string.format('%016.0f', math.max(newest + 1, time[1] * 1000000 + time[2]))

for _ = 1, ARGV[4] do
  local key, json, at = next_key(), next_arg(), next_arg()
  if kind(key) == 'hash' then return refuse({ 'set', member(key) }) end
  kinds[key] = 'string'
  write('SET', key, version .. json)
  write('ZADD', index, 0, member(key))
  if at ~= '' then
    write('PEXPIREAT', key, at)
    write('ZADD', ends, at, member(key))
  end
end

for _ = 1, ARGV[5] do
  local key = next_key()
  kinds[key] = 'none'
  write('DEL', key)
  write('ZREM', index, member(key))
end

for _ = 1, ARGV[6] do
  local key = next_key()
  if kind(key) == 'string' then return refuse({ 'sum', member(key) }) end
  totals[key] = totals[key] or {}
  for _ = 1, next_arg() do
    local field, amount = '.' .. next_arg(), next_arg()
    local before = totals[key][field] or (kind(key) == 'hash' and redis.call('HGET', key, field)) or 0
    local total = before + amount
    if math.abs(total) > 9007199254740991 then return refuse({ 'range', member(key) }) end
    totals[key][field] = total
    write('HINCRBY', key, field, amount)
  end
  write('HSET', key, 'v', version)
  write('ZADD', index, 0, member(key))
end

for _, command in ipairs(writes) do redis.call(unpack(command)) end
redis.call('HSET', meta, 'version', version)
remember(number)

-- Redis removes an expired entry by itself; its member of the index goes here, always more of them than a commit adds.
for _, gone in ipairs(redis.call('ZRANGEBYSCORE', ends, '-inf', time[1] .. '000', 'LIMIT', 0, ARGV[4] + 10)) do
  local left = redis.call('PTTL', prefix .. gone)
  if left == -2 then redis.call('ZREM', index, gone) end
  if left < 0 then redis.call('ZREM', ends, gone) end
end
return 1
`,
}
