-- Sorts words into a table of tables, and builds binary trees: small blocks, strings, hashing.
local function tree(depth)
  if depth == 0 then return {} end
  return { tree(depth - 1), tree(depth - 1) }
end
local function nodes(t) return t[1] and 1 + nodes(t[1]) + nodes(t[2]) or 1 end
local total = 0
for _ = 1, 24 do total = total + nodes(tree(11)) end
local words, seed = {}, 7
for i = 1, 30000 do
  seed = (seed * 16807) % 2147483647
  words[i] = ("%x"):format(seed)
end
table.sort(words)
print(total, words[1], #table.concat(words, " "))
