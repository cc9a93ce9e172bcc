-- Runs one job in wrk against one of several nodes, over many networks. Environment: JOB, a name below, and KEYS, separated
-- by commas.

local job = os.getenv("JOB")
local keys = {}
for key in string.gmatch(os.getenv("KEYS"), "[^,]+") do
  keys[#keys + 1] = { ["Content-Type"] = "application/json", ["X-Service-Api-Key"] = key }
end

local function player()
  return string.format("%08x-0000-4000-8000-000000000000", math.random(100000))
end

local function game()
  return string.format("game-%d", math.random(10))
end

local jobs = {
  heartbeat = function()
    return "/api/plugin/servers/heartbeat",
      '{"serverId":"' .. game() .. '","serverType":"game","gameState":"WAITING","playersToStart":0,"worlds":[]}'
  end,
  find = function()
    return "/api/plugin/matchmaking/find",
      '{"playerUuid":"' .. player() .. '","playerName":"Steve","serverType":"game","region":"EUROPE"}'
  end,
  modify = function()
    return "/api/plugin/economy/player/" .. player() .. "/currencies/modify",
      '{"currency":"coins","amount":0.25,"reason":"load"}'
  end,
  chat = function()
    return "/api/plugin/chat",
      '{"playerUuid":"' .. player() .. '","playerName":"Steve","message":"a quiet line","serverId":"game-1"}'
  end,
}

function setup(thread)
  thread:set("seed", math.random(1000000))
end

function init()
  math.randomseed(seed or 1)
end

function request()
  local path, body = jobs[job]()
  return wrk.format("POST", path, keys[math.random(#keys)], body)
end

function done(summary)
  local errors = summary.errors
  io.write(string.format("RESULT %d %d %d\n", summary.requests, summary.duration,
    errors.status + errors.connect + errors.read + errors.write + errors.timeout))
end
