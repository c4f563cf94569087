-- Arguments: file of bodies (one a line), seed, "stored" or "unique", mark. Prints one line of JSON.
local HEADERS = { ["Content-Type"] = "application/json", ["Authorization"] = "Bearer bench-key" }
local requests = {}
local count = 0
local before, after
local serial = 0

function init(args)
  math.randomseed(tonumber(args[2]))
  for index = 5, #args do
    local name, value = args[index]:match("^([^=]+)=(.*)$")
    HEADERS[name] = value
  end
  for line in io.lines(args[1]) do
    count = count + 1
    requests[count] = wrk.format("POST", nil, HEADERS, line)
  end
  if args[3] == "unique" then
    local from, to = requests[1]:find(args[4], 1, true)
    before, after = requests[1]:sub(1, from - 1), requests[1]:sub(to + 1)
    local run = string.format("%012d", tonumber(args[2]))
    request = function()
      serial = serial + 1
      return before .. run .. string.format("%012d", serial) .. after
    end
  end
end

function request()
  return requests[math.random(count)]
end

function done(summary, latency)
  local errors = summary.errors
  io.write(string.format(
    '{"requests":%d,"durationUs":%d,"errors":%d,"p50Us":%d,"p99Us":%d}\n',
    summary.requests, summary.duration,
    errors.connect + errors.read + errors.write + errors.status + errors.timeout,
    latency:percentile(50), latency:percentile(99)))
end
