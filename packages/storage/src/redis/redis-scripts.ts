/** A Lua script, which Redis runs atomically. */
export interface Script {
  name: string
  lua: string
}

// A value is stored as a string: a version of 16 digits, then JSON. A counter is a hash: `v` is the version, `.name` is each field.
const read = `
local function read(key, member)
  local value = redis.call('MGET', key)[1]
  if not value then return redis.call('HGETALL', key) end
  if redis.call('PTTL', key) < 0 then return value end
  return { value, redis.call('ZSCORE', KEYS[1], member) }
end
local function bytes(entry)
  if type(entry) == 'table' then entry = entry[1] end
  return entry and #entry or 0
end
`

/**
 * KEYS: expiry index, prefix of the entries, then the keys to read. ARGV: bytes of values after which it stops. Returns for each a string, a
 * string with the last millisecond before it expires, the flat list of a hash, or an empty list if the key does not exist.
 */
export const GET: Script = {
  name: 'get',
  lua: `${read}
local found, size, most = {}, 0, tonumber(ARGV[1])
for i = 3, #KEYS do
  if size >= most then break end
  found[i - 2] = read(KEYS[i], string.sub(KEYS[i], #KEYS[2] + 1))
  size = size + bytes(found[i - 2])
end
return found
`,
}

/**
 * KEYS: expiry index, prefix of the entries, index. ARGV: command, from, to, count, bytes of values after which it stops.
 * Returns `[member, entry]` for each member of the index, even if its entry has expired, and last `[member]` of the first entry that it did not read.
 */
export const LIST: Script = {
  name: 'list',
  lua: `${read}
local found, size, most = {}, 0, tonumber(ARGV[5])
for i, member in ipairs(redis.call(ARGV[1], KEYS[3], ARGV[2], ARGV[3], 'LIMIT', 0, ARGV[4])) do
  local key = KEYS[2] .. member
  if size >= most and redis.call('EXISTS', key) == 1 then
    found[i] = { member }
    break
  end
  local entry = read(key, member)
  found[i] = { member, entry }
  size = size + bytes(entry)
end
return found
`,
}

/**
 * KEYS: meta, index, expiry index, session, prefix of the entries, then the key of each check, set, del and sum.
 * ARGV: slot and number of the commit; the numbers of checks, sets, dels and sums;
 * then version (check); JSON and expiry time or '' (set); nothing (del); number of fields, and each field and amount (sum).
 * Returns 1 = applied, 0 = a check failed, or an error: { 'set' | 'sum', key }.
 * Nothing is written before the commit is validated, and Redis does not interrupt a script after its first write.
 */
export const COMMIT: Script = {
  name: 'commit',
  lua: `
local meta, index, ends, session, prefix = KEYS[1], KEYS[2], KEYS[3], KEYS[4], KEYS[5]

-- A slot is used by one commit at a time, with increasing numbers. Its last outcome is stored: the number if it was applied,
-- the number plus a half if not. So a commit that is sent again, or arrives late on another connection, has no effect.
local number = tonumber(ARGV[2])
local last = tonumber(redis.call('HGET', session, ARGV[1]) or 0)
local function remember(outcome)
  redis.call('HSET', session, ARGV[1], outcome)
  if redis.call('PTTL', session) < 43200000 then redis.call('PEXPIRE', session, 86400000) end
end
if last >= number then
  -- A write, so that a WAIT after it covers the first one, which another connection may have sent.
  remember(last)
  return last == number and 1 or 0
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

-- At least the clock, so that versions are not reused after a crash in which Redis loses the last second.
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
    total = math.max(-9007199254740991, math.min(total, 9007199254740991))
    totals[key][field] = total
    write('HSET', key, field, string.format('%.0f', total))
  end
  write('HSET', key, 'v', version)
  write('ZADD', index, 0, member(key))
end

for _, command in ipairs(writes) do redis.call(unpack(command)) end
redis.call('HSET', meta, 'version', version)
remember(number)

-- Redis expires entries itself. Their members of the index are removed here: per commit, more of them than a commit can add.
for _, gone in ipairs(redis.call('ZRANGEBYSCORE', ends, '-inf', time[1] .. '000', 'LIMIT', 0, ARGV[4] + 10)) do
  local left = redis.call('PTTL', prefix .. gone)
  if left == -2 then redis.call('ZREM', index, gone) end
  if left < 0 then redis.call('ZREM', ends, gone) end
end
return 1
`,
}
