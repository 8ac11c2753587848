local data = {name="Alice", age=30}
return cjson.encode(data) -- 返回 JSON 字符串
