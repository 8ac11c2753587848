redis.call('命令名称', 'key', '其它参数', ...)
