-- KEYS[1]：锁的键名（如"myLock"）
-- KEYS[2]：锁的释放通知频道（如"redisson_lock__channel:{锁名}"）
-- ARGV[1]：锁释放的广播消息（固定为0）
-- ARGV[2]：锁的默认超时时间（如30000毫秒）
-- ARGV[3]：当前线程的唯一标识（UUID + 线程ID）

-- 1. 检查锁是否存在或是否属于当前线程
if (redis.call('hexists', KEYS[1], ARGV[3]) == 0) then
    return nil;  -- 锁不存在或非当前线程持有，直接返回
end;

-- 2. 减少重入次数（计数器-1）
local counter = redis.call('hincrby', KEYS[1], ARGV[3], -1);

-- 3. 判断计数器是否归零
if (counter > 0) then
    -- 3.1 未完全释放锁，仅刷新过期时间
    redis.call('pexpire', KEYS[1], ARGV[2]);
    return 0;
else
    -- 3.2 完全释放锁，删除键并发布通知
    redis.call('del', KEYS[1]);
    redis.call('publish', KEYS[2], ARGV[1]);
    return 1;
end;

return nil;  -- 其他情况（如参数错误）
