-- One commit of a project in Redis: all of it or nothing.
-- KEYS: project, lock, parts, changes; rows and order of each part. ARGV: the token of the writer, the numbers of the
-- commit that was looked at, the random number of this one, 1 for a purge; of each part its name, how many rows go,
-- their numbers, how many come, the number and the row of each. What can fail comes first, for nothing is taken back.
local project, lock, parts, changes = unpack(KEYS, 1, 4)
local last = redis.call('HMGET', project, 'seq', 'commit')
if redis.call('GET', lock) ~= ARGV[1] or last[1] ~= ARGV[2] or last[2] ~= ARGV[3] then return 0 end
local seq, at, entries, size, gone = last[1] + 1, 5, 0, 0, {}
local now = redis.call('TIME')[1]
redis.call('XADD', changes, seq .. '-0', 'commit', ARGV[4], 'at', now)
local function word() at = at + 1; return ARGV[at] end
local function note(order, id, old, new)
  entries, size = entries + 1, size + #new - #old
  redis.call('ZADD', order, seq, id)
  redis.call('XADD', changes, seq .. '-' .. entries, 'id', id, 'old', old, 'new', new)
end
for key = 5, #KEYS, 2 do
  local rows, order = KEYS[key], KEYS[key + 1]
  redis.call('ZADD', parts, seq, word())
  for _ = 1, tonumber(word()) do
    local id = word()
    local old = redis.call('HGET', rows, id)
    gone[id] = true
    if old then
      redis.call('HDEL', rows, id)
      note(order, id, old, '')
    end
  end
  for _ = 1, tonumber(word()) do
    local id, new = word(), word()
    note(order, id, redis.call('HGET', rows, id) or '', new)
    redis.call('HSET', rows, id, new)
  end
end
local from = ARGV[5] == '1' and '-'
while from do
  local found = redis.call('XRANGE', changes, from, '+', 'COUNT', 1000)
  from = #found > 0 and '(' .. found[#found][1]
  for _, entry in ipairs(found) do
    if gone[entry[2][2]] then redis.call('XDEL', changes, entry[1]) end
  end
end
if seq % 100 == 0 then  -- the oldest of the history go
  local first, old = redis.call('XRANGE', changes, '-', '+', 'COUNT', 10000), 0
  local days = redis.call('HGET', project, 'history_days') or 365
  local function number(entry) return tonumber(string.match(entry[1], '%d+')) end
  for _, entry in ipairs(first) do
    if entry[2][1] == 'commit' and tonumber(entry[2][4]) < now - days * 86400 then old = number(entry) end
  end
  for _, entry in ipairs(first) do
    if number(entry) <= old then redis.call('XDEL', changes, entry[1]) end
  end
  if old > 0 then redis.call('HSET', project, 'history_from', old) end
end
redis.call('HSET', project, 'seq', seq, 'commit', ARGV[4])
redis.call('HINCRBY', project, 'size', size)
return seq
