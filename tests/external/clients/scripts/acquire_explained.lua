local key = KEYS[1];                  -- 锁的键名
local threadId = ARGV[1];             -- 线程唯一标识
local releaseTime = ARGV[2];          -- 锁的自动释放时间

-- 场景1：锁不存在，首次获取锁
if (redis.call('exists', key) == 0) then
    -- 创建Hash结构，记录线程标识与重入次数（初始为1）
    redis.call('hset', key, threadId, 1);
    -- 设置锁的过期时间
    redis.call('expire', key, releaseTime);
    return 1;  -- 返回1表示获取成功
end;

-- 场景2：锁已存在且属于当前线程，重入获取
if (redis.call('hexists', key, threadId) == 1) then
    -- 重入次数+1
    redis.call('hincrby', key, threadId, 1);
    -- 刷新锁的过期时间
    redis.call('expire', key, releaseTime);
    return 1;  -- 返回1表示获取成功
end;

-- 场景3：锁被其他线程持有，获取失败
return 0;  -- 返回0表示获取失败
