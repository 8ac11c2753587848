# redis-rb, the Ruby client.
require_relative "helper"
require "redis/distributed"

class RedisRb < Minitest::Test
  def setup
    @redis = Redis.new(url: Clients::URL)
    @redis.flushall
    @others = []
    @servers = []
  end

  def teardown
    [@redis, *@others].each(&:close)
    @servers.each(&:finish)
  end

  def other(**options)
    @others << Redis.new(url: Clients::URL, **options)
    @others.last
  end

  def server(*args)
    @servers << Clients::Server.new(*args)
    @servers.last
  end

  def blocked = @redis.info("clients")["blocked_clients"].to_i

  def error(&block) = assert_raises(Redis::CommandError, &block).message

  def test_strings_and_keys
    assert_equal "OK", @redis.set("name", "虎哥")
    assert_equal "虎哥", @redis.get("name").force_encoding("UTF-8")
    assert_nil @redis.get("none")
    refute @redis.set("name", "x", nx: true)
    assert @redis.set("name", "jack", ex: 10, xx: true)
    assert_equal 10, @redis.ttl("name")
    assert_equal "jack", @redis.set("name", "rose", get: true, keepttl: true)
    assert_equal "rose", @redis.getdel("name")
    assert_equal [42, 10.5], [@redis.incrby("n", 42), @redis.incrbyfloat("f", 10.5)]
    assert_equal({ "n" => "42", "none" => nil }, @redis.mapped_mget("n", "none"))
    assert_equal 2, @redis.exists("n", "f")
    assert @redis.rename("n", "m")
    assert_equal "string", @redis.type("m")
    assert @redis.copy("m", "c")
    binary = (0..255).to_a.pack("C*")
    @redis.set(binary, binary)
    assert_equal binary, @redis.get(binary).b
  end

  def test_hashes_lists_sets
    assert_equal 2, @redis.hset("h", "a", 1, "b", 2)
    assert_equal({ "a" => "1", "b" => "2" }, @redis.hgetall("h"))
    assert_equal({ "a" => "1" }, @redis.mapped_hmget("h", "a"))
    assert_equal 3, @redis.hincrby("h", "b", 1)
    assert_equal 3, @redis.rpush("l", %w[a b c])
    assert_equal "a", @redis.lmove("l", "m", "LEFT", "RIGHT")
    assert_equal %w[b c], @redis.lpop("l", 5)
    assert_equal 2, @redis.sadd("s", %w[x y])
    @redis.sadd("t", "y")
    assert_equal ["y"], @redis.sinter("s", "t")
    assert @redis.sismember("s", "x")
    assert_equal [true, false], @redis.smismember("s", "x", "z")
  end

  def test_sorted_sets_and_places
    assert_equal 3, @redis.zadd("rank", [[85, "Jack"], [89.5, "Lucy"], ["+inf", "Top"]])
    assert_equal [["Jack", 85.0], ["Lucy", 89.5], ["Top", Float::INFINITY]],
                 @redis.zrange("rank", 0, -1, with_scores: true)
    assert_equal 90.5, @redis.zincrby("rank", 1, "Lucy")
    assert_nil @redis.zscore("rank", "nobody")
    assert_equal ["Lucy"], @redis.zrevrangebyscore("rank", "100", "-inf", limit: [0, 1])
    assert_equal ["Top", Float::INFINITY], @redis.zpopmax("rank")
    assert_equal %w[Jack Lucy], @redis.zrange("rank", "-inf", "+inf", by_score: true)
    @redis.geoadd("Sicily", 13.361389, 38.115556, "Palermo", 15.087269, 37.502669, "Catania")
    assert_equal "166.2742", @redis.geodist("Sicily", "Palermo", "Catania", "km")
    assert_equal %w[sqc8b49rny0 sqdtr74hyu0], @redis.geohash("Sicily", %w[Palermo Catania])
  end

  def test_errors_have_the_words_of_the_server
    @redis.set("text", "abc")
    assert_equal "ERR value is not an integer or out of range", error { @redis.incr("text") }
    assert_equal "WRONGTYPE Operation against a key holding the wrong kind of value", error { @redis.lpush("text", 1) }
    assert_equal "ERR unknown command 'nosuch', with args beginning with: 'a'", error { @redis.call("nosuch", "a") }
  end

  def test_pipeline_keeps_the_order_of_10000_replies
    replies = @redis.pipelined { |pipe| 10_000.times { |n| pipe.set("k#{n}", n) && pipe.get("k#{n}") } }
    assert_equal (0...10_000).map(&:to_s), replies.each_slice(2).map(&:last)
  end

  def test_transaction
    assert_equal [1, 6, ["a"]], @redis.multi { |tx| tx.incr("n"); tx.incrby("n", 5); tx.lpush("l", "a"); tx.lrange("l", 0, -1) }
                                      .values_at(0, 1, 3)
    assert_equal "ERR unknown command 'nosuch', with args beginning with:",
                 error { @redis.multi { |tx| tx.set("k", 1); tx.call("nosuch") } }
    refute @redis.exists?("k")
  end

  def test_watched_increments_of_ten_threads_all_count
    threads = Array.new(10) do
      redis = other
      Thread.new do
        10.times do
          nil until redis.watch("counter") { n = redis.get("counter").to_i; redis.multi { |tx| tx.set("counter", n + 1) } }
        end
      end
    end
    threads.each(&:join)
    assert_equal "100", @redis.get("counter")
  end

  def test_subscribe_until_unsubscribed
    heard = []
    subscriber = other
    listener = Thread.new do
      subscriber.psubscribe("order.*") do |on|
        on.pmessage do |pattern, channel, message|
          heard << [pattern, channel, message]
          subscriber.punsubscribe if message == "stop"
        end
      end
    end
    Clients.eventually("somebody listens") { @redis.pubsub("numpat") == 1 }
    assert_equal 1, @redis.publish("order.new", "12345")
    @redis.publish("order.new", "stop")
    listener.join
    assert_equal [["order.*", "order.new", "12345"], ["order.*", "order.new", "stop"]], heard
    assert_equal "PONG", subscriber.ping
  end

  def test_blocking_pop_wakes_and_times_out
    assert_nil @redis.blpop("queue", timeout: 0.1)
    waiting = other
    waiter = Thread.new { waiting.brpop("none", "queue", timeout: 5) }
    Clients.eventually("it blocks") { blocked == 1 }
    @redis.lpush("queue", "job")
    assert_equal %w[queue job], waiter.value
  end

  def test_scripts
    @redis.script(:flush)
    source = "if redis.call('get', KEYS[1]) == ARGV[1] then return redis.call('del', KEYS[1]) else return 0 end"
    @redis.set("lock", "me")
    assert_equal 0, @redis.eval(source, ["lock"], ["another"])
    sha = @redis.script(:load, source)
    assert_equal [true, false], @redis.script(:exists, [sha, "0" * 40])
    assert_equal 1, @redis.evalsha(sha, keys: ["lock"], argv: ["me"])
    @redis.script(:flush)
    assert_equal "NOSCRIPT No matching script. Please use EVAL.", error { @redis.evalsha(sha, ["lock"], ["me"]) }
    assert_includes error { @redis.eval("# not Lua") }, "ERR Error compiling script (new function): user_script:1:"
  end

  def test_streams
    assert_equal "OK", @redis.xgroup(:create, "stream.orders", "g1", "0", mkstream: true)
    assert_equal "BUSYGROUP Consumer Group name already exists", error { @redis.xgroup(:create, "stream.orders", "g1", "0") }
    assert_equal "1-0", @redis.xadd("stream.orders", { userId: 1001, voucherId: 7 }, id: "1-0")
    entry = ["1-0", { "userId" => "1001", "voucherId" => "7" }]
    assert_equal({ "stream.orders" => [entry] }, @redis.xreadgroup("g1", "c1", "stream.orders", ">", count: 1, block: 2000))
    assert_equal 0, @redis.xack("s1", "g1", "1-0")
    assert_equal({ "stream.orders" => [entry] }, @redis.xreadgroup("g1", "c1", "stream.orders", "0"))
    assert_equal({ "size" => 1, "min_entry_id" => "1-0", "max_entry_id" => "1-0", "consumers" => { "c1" => "1" } },
                 @redis.xpending("stream.orders", "g1"))
    assert_equal({ "next" => "0-0", "entries" => [entry] }, @redis.xautoclaim("stream.orders", "g1", "c2", 0, "0"))
    assert_equal 1, @redis.xack("stream.orders", "g1", "1-0")
    assert_equal({}, @redis.xreadgroup("g1", "c1", "stream.orders", ">", block: 20))
    assert_equal 1, @redis.xinfo(:stream, "stream.orders")["length"]
  end

  def test_scan_each_sees_every_element
    @redis.pipelined { |pipe| 1500.times { |n| pipe.set("key:#{n}", n); pipe.sadd("set", n); pipe.hset("hash", "f#{n}", n) } }
    assert_equal 1500, @redis.scan_each(match: "key:*").to_a.uniq.size
    assert_equal 1500, @redis.sscan_each("set").to_a.uniq.size
    assert_equal 1500, @redis.hscan_each("hash").to_a.uniq.size
    assert_equal ["set"], @redis.scan_each(type: "set").to_a
  end

  def test_monitor
    lines = Queue.new
    watcher = other
    thread = Thread.new { watcher.monitor { |line| lines << line } }
    Clients.eventually("the command is seen") do
      @redis.set("qingshan", "26\"73")
      !lines.empty? && lines.pop.match?(/\A\d+\.\d{6} \[0 127\.0\.0\.1:\d+\] "set" "qingshan" "26\\"73"\z/)
    end
    thread.kill.join
  end

  def test_threads_share_a_connection
    threads = Array.new(20) { Thread.new { 50.times { @redis.incr("n") } } }
    threads.each(&:join)
    assert_equal "1000", @redis.get("n")
  end

  def test_reconnecting_after_a_crash
    own = server("--appendonly", "yes", "--appendfsync", "always")
    redis = Redis.new(url: own.url, reconnect_attempts: 3)
    @others << redis
    redis.set("k", "v")
    own.kill
    assert_raises(Redis::CannotConnectError) { redis.get("k") }
    own.start
    assert_equal "v", redis.get("k")
  end

  def test_unix_socket_and_password
    own = server("--requirepass", "secret")
    assert_equal "NOAUTH Authentication required.", error { Redis.new(path: own.socket).get("k") }
    redis = Redis.new(path: own.socket, password: "secret", db: 3, id: "billing")
    @others << redis
    assert_equal "OK", redis.set("k", "v")
    assert_match(/ db=3 /, redis.call("CLIENT", "INFO"))
    assert_raises(Redis::CannotConnectError, Redis::CommandError) { Redis.new(path: own.socket, password: "guess").ping }
  end

  def test_distributed_over_three_servers
    nodes = Array.new(3) { server.url }
    ring = Redis::Distributed.new(nodes)
    300.times { |n| ring.set("k#{n}", n) }
    sizes = ring.nodes.map(&:dbsize)
    assert_equal 300, sizes.sum
    assert_operator sizes.min, :>, 0
    assert_equal "299", ring.get("k299")
    ring.quit
  end
end

Minitest.run_as_tap
