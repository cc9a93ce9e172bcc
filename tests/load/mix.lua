-- Runs one job in wrk. Environment: JOB, a name below, and, for the hub, HUB_KEY; PLAYERS and SERVERS there are, and DELAY, the
-- milliseconds between two requests of a connection.

local job, key = os.getenv("JOB"), os.getenv("HUB_KEY")
local players, servers = tonumber(os.getenv("PLAYERS") or 1000), tonumber(os.getenv("SERVERS") or 20)
local pause = os.getenv("DELAY")
local headers = { ["Content-Type"] = "application/json", ["X-Service-Api-Key"] = key }

local function player()
  return string.format("%08x-0000-4000-8000-000000000000", math.random(players))
end

local document = '{\\"coins\\":12,\\"items\\":[\\"sword\\",\\"bow\\"],\\"spawn\\":{\\"x\\":1,\\"y\\":64,\\"z\\":-7}}'

local function server()
  return string.format("game-%02d", math.random(servers))
end

local jobs = {
  ["text"] = function() return wrk.format("GET", "/text") end,
  ["read"] = function() return wrk.format("GET", "/entries/" .. player()) end,
  ["write"] = function() return wrk.format("PUT", "/entries/" .. player(), headers, document) end,
  ["data-get"] = function()
    return wrk.format("GET", "/api/plugin/players/" .. player() .. "/data/global/inventory", headers)
  end,
  ["data-put"] = function()
    return wrk.format("PUT", "/api/plugin/players/" .. player() .. "/data/global/inventory", headers,
      '{"data":"' .. document .. '"}')
  end,
  ["modify"] = function()
    return wrk.format("POST", "/api/plugin/economy/player/" .. player() .. "/currencies/modify", headers,
      '{"currency":"coins","amount":0.25,"reason":"load"}')
  end,
  ["increment"] = function()
    return wrk.format("POST", "/api/plugin/economy/player/" .. player() .. "/statistics/increment", headers,
      '{"name":"kills","gameMode":"global","amount":1}')
  end,
  ["heartbeat"] = function()
    return wrk.format("POST", "/api/plugin/servers/heartbeat", headers,
      '{"serverId":"' .. server() .. '","serverType":"game","gameState":"WAITING","playersToStart":0,"worlds":[]}')
  end,
  ["find"] = function()
    return wrk.format("POST", "/api/plugin/matchmaking/find", headers,
      '{"playerUuid":"' .. player() .. '","playerName":"Steve","serverType":"game","region":"EUROPE"}')
  end,
}

local listed, worlds = {}, {}
for number = 1, 50 do
  listed[number] = string.format('{"uuid":"%08x-0000-4000-8000-000000000001","name":"Player%d"}', number, number)
end
for number = 1, 5 do
  worlds[number] = string.format('{"worldId":"world-%d","displayName":"World %d","currentPlayers":10,"maxPlayers":20,' ..
    '"gameState":"WAITING","playersToStart":2,"worldType":"duel"}', number, number)
end
local busy = '{"serverId":"busy","serverType":"game","gameState":"WAITING","playersToStart":0,"worlds":[' ..
  table.concat(worlds, ",") .. '],"players":[' .. table.concat(listed, ",") .. "]}"
jobs["busy-heartbeat"] = function() return wrk.format("POST", "/api/plugin/servers/heartbeat", headers, busy) end
jobs["bare-heartbeat"] = function() return wrk.format("POST", "/heartbeat", headers, busy) end
-- Forwarded by a proxy for many clients: a single one is rate-limited.
jobs["version"] = function()
  local client = string.format("10.%d.%d.%d", math.random(0, 255), math.random(0, 255), math.random(0, 255))
  return wrk.format("GET", "/api/version", { ["X-Forwarded-For"] = client })
end
jobs["chat"] = function()
  return wrk.format("POST", "/api/plugin/chat", headers, '{"playerUuid":"' .. player() ..
    '","playerName":"Steve","message":"quiet line ' .. math.random(1000000) .. '","serverId":"lobby-1"}')
end
jobs["profile"] = function() return wrk.format("GET", "/api/plugin/players/" .. player(), headers) end
jobs["currency-top"] = function()
  return wrk.format("GET", "/api/plugin/economy/currencies/leaderboard?currency=coins&limit=100", headers)
end
jobs["statistic-top"] = function()
  return wrk.format("GET", "/api/plugin/economy/leaderboard?name=kills&limit=100", headers)
end

-- Jobs of two requests in turn, as a player comes and goes, with one connection for each thread. The fence of an opened session
-- is that of the save which follows and closes it. Each thread has players of its own, since a session that another thread
-- opens ends the one before. In the jobs that say so, data differs with each save.
local pairs_of = 16
local step, of_step, fence = 0, nil, nil

local function content(changes)
  return changes and string.format('{\\"coins\\":%d}', math.random(1000000000)) or document
end

local function in_turn(first, second)
  return function()
    step = step + 1
    -- wrk asks for one request that it does not send: the second request must not be without the first.
    if step % 2 == 1 or step == 2 then
      local own = math.floor(players / pairs_of)
      of_step = string.format("%08x-0000-4000-8000-000000000000", (id or 0) * own + math.random(own))
      return first(of_step)
    end
    return second(of_step)
  end
end

local function session(changes)
  return in_turn(function(of)
    return wrk.format("POST", "/api/plugin/players/" .. of .. "/session", headers,
      '{"serverId":"game-01","include":["data:inventory"]}')
  end, function(of)
    return wrk.format("PUT", "/api/plugin/players/" .. of .. "/session/" .. (fence or 0), headers,
      '{"data":[{"namespace":"inventory","data":"' .. content(changes) .. '"}],"close":true}')
  end)
end

local function load_and_put(changes)
  return in_turn(function(of)
    return wrk.format("POST", "/api/plugin/players/" .. of .. "/load?include=data:inventory", headers, "{}")
  end, function(of)
    return wrk.format("PUT", "/api/plugin/players/" .. of .. "/data/global/inventory", headers,
      '{"data":"' .. content(changes) .. '"}')
  end)
end

jobs["session"], jobs["load-put"] = session(false), load_and_put(false)
jobs["session-changed"], jobs["load-put-changed"] = session(true), load_and_put(true)
if string.match(job, "^session") or string.match(job, "^load%-put") then
  function response(_, _, body)
    fence = string.match(body, '"fence":(%d+)') or fence
  end
end

if pause then
  function delay()
    return tonumber(pause)
  end
end

local threads = 0

function setup(thread)
  thread:set("seed", math.random(1000000))
  thread:set("id", threads)
  threads = threads + 1
end

function init()
  math.randomseed(seed or 1)
end

function request()
  return jobs[job]()
end

function done(summary, latency)
  local seconds = summary.duration / 1000000
  local errors = summary.errors
  io.write(string.format("RESULT %.0f %.2f %.2f %d\n", summary.requests / seconds, latency:percentile(50) / 1000,
    latency:percentile(99) / 1000, errors.status + errors.connect + errors.read + errors.write + errors.timeout))
end
