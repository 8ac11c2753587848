-- 参数：voucherId, userId, orderId
local stockKey = 'seckill:stock:'..voucherId
local orderKey = 'seckill:order:'..voucherId

-- 校验库存与重复购买
if tonumber(redis.call('GET', stockKey)) <= 0 then return 1 end
if redis.call('SISMEMBER', orderKey, userId) == 1 then return 2 end

-- 扣减库存并记录订单
redis.call('DECR', stockKey)
redis.call('SADD', orderKey, userId)
redis.call('XADD', 'stream.orders', '*', 'userId', userId, 'voucherId', voucherId) -- 写入Stream队列
return 0
