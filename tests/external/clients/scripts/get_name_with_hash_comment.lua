local name = redis.call('get', 'name')
# 返回
return name
