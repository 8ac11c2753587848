redis.call('set', 'name', 'jack')
