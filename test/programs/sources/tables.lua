-- A text is built, cut into words, counted, sorted and joined again, round after round, with a window of rounds kept alive.
local rounds = tonumber(arg[1])
collectgarbage("generational")

local state = 42
local function random(n)
  state = (state * 6364136223846793005 + 1442695040888963407)
  return (state >> 33) % n + 1
end

local function checksum(text)
  local sum = 0
  for i = 1, #text do sum = (sum * 31 + text:byte(i)) % 4294967291 end
  return sum
end

local function words(count)
  return coroutine.wrap(function()
    for _ = 1, count do
      local letters = {}
      for i = 1, random(24) do letters[i] = string.char(96 + random(26)) end
      coroutine.yield(table.concat(letters))
    end
  end)
end

local window, total = {}, 0
for round = 1, rounds do
  local counts, order = {}, {}
  for word in words(4000) do
    local key = word:sub(1, 3)
    if not counts[key] then order[#order + 1] = key end
    counts[key] = (counts[key] or 0) + #word
  end
  table.sort(order)
  local lines = {}
  for i, key in ipairs(order) do lines[i] = ("%s=%d"):format(key, counts[key]) end
  local text = table.concat(lines, "\n")
  window[round % 8] = { text = text, counts = counts, again = function() return checksum(text) end }
  local sum = checksum(text)
  local kept = window[(round * 5) % 8]
  if kept then assert(kept.again() == checksum(kept.text)) end
  total = (total * 17 + sum) % 4294967291
  if round % 10 == 0 then
    collectgarbage()
    print(round, #order, #text, total, #(text:rep(round)))
  end
end
print("total", total)
