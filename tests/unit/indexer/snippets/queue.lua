--- A queue with two ends.
local class = require("middleclass")
local log = require "log"

local MAX = 100
local Queue = {}
Queue.__index = Queue

--- A new queue.
-- @param items what is in it at first
function Queue.new(items)
  local self = setmetatable({}, Queue)
  self.items = items or {}
  return self
end

function Queue:push(item)
  if #self.items >= MAX then
    error("full")
  end
  table.insert(self.items, item)
end

local function swap(list, i, j)
  list[i], list[j] = list[j], list[i]
end

Queue.reverse = function(self)
  for i = 1, math.floor(#self.items / 2) do
    swap(self.items, i, #self.items - i + 1)
  end
end

local drain = function(queue)
  while #queue.items > 0 do
    log.info(table.remove(queue.items))
  end
end

function main()
  drain(Queue.new({ 1, 2 }))
end

return Queue
