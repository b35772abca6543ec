-- Tables, closures and strings: every one of them a malloc.
local scale = tonumber(arg[1])
local state = 12345
local function number(limit)
  state = (state * 1103515245 + 12345) % 2147483648
  return (state // 256) % limit
end
local alive, built = {}, 0
for i = 1, 150000 * scale // 1 do
  local word = {}
  for j = 1, 1 + number(8) do word[j] = string.char(97 + number(26)) end
  local record = {name = table.concat(word), size = number(100), next = alive[number(30000)]}
  if number(10) == 0 then record.next = nil end
  record.length = function() return #record.name + record.size end
  if record.next and record.next.next then record.next.next = nil end
  alive[number(30000)] = record
  built = (built * 31 + record.length()) % 1000000007
end
local names = {}
for _, record in pairs(alive) do names[#names + 1] = record.name end
table.sort(names)
print(#names, built, names[1], names[#names])
