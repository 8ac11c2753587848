-- 检查库存是否充足
if tonumber(redis.call('GET', stock_key)) <= 0 then return 0 end
-- 检查是否重复下单
if redis.call('SISMEMBER', order_key, user_id) == 1 then return 0 end
-- 扣减库存并记录用户
redis.call('DECR', stock_key)
redis.call('SADD', order_key, user_id)
return 1
