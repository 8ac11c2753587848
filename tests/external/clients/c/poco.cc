// Poco::Redis, the C++ client that Debian has: typed replies, pipelines, the command builder, the reader thread, the
// pool.
#include <Poco/Delegate.h>
#include <Poco/Event.h>
#include <Poco/ObjectPool.h>
#include <Poco/Redis/AsyncReader.h>
#include <Poco/Redis/Client.h>
#include <Poco/Redis/Command.h>
#include <Poco/Redis/Exception.h>
#include <Poco/Redis/PoolableConnectionFactory.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <string>
#include <thread>
#include <vector>

namespace {

using Poco::Int64;
using Poco::Timespan;
using Poco::Redis::Array;
using Poco::Redis::AsyncReader;
using Poco::Redis::BulkString;
using Poco::Redis::Client;
using Poco::Redis::Command;

std::string Address() { return std::string(std::getenv("REDIS_HOST")) + ":" + std::getenv("REDIS_PORT"); }

class PocoRedis : public testing::Test {
 protected:
  PocoRedis() : client(Address()) { client.execute<std::string>(Array() << "FLUSHALL"); }

  Client client;
};

TEST_F(PocoRedis, TypedReplies) {
  EXPECT_EQ(client.execute<std::string>(Command::set("name", "虎哥")), "OK");
  EXPECT_EQ(client.execute<BulkString>(Command::get("name")).value(), "虎哥");
  EXPECT_TRUE(client.execute<BulkString>(Command::get("none")).isNull());
  EXPECT_EQ(client.execute<Int64>(Command::incr("n", 41)), 41);
  EXPECT_EQ(client.execute<Int64>(Command::hset("h", "f", "v")), 1);
  const auto all = client.execute<Array>(Command::hgetall("h"));
  EXPECT_EQ(all.get<BulkString>(0).value() + "=" + all.get<BulkString>(1).value(), "f=v");
}

TEST_F(PocoRedis, ErrorsAreExceptionsWithTheServersText) {
  client.execute<std::string>(Command::set("text", "abc"));
  try {
    client.execute<Int64>(Command::incr("text"));
    FAIL() << "no exception";
  } catch (const Poco::Redis::RedisException& error) {
    EXPECT_EQ(error.message(), "ERR value is not an integer or out of range");
  }
}

TEST_F(PocoRedis, SeveralCommandsAtOnce) {
  std::vector<Array> commands;
  for (int i = 0; i < 5000; i++) commands.push_back(Command::rpush("list", std::to_string(i)));
  commands.push_back(Command::lrange("list"));
  const Array replies = client.sendCommands(commands);
  ASSERT_EQ(replies.size(), 5001u);
  EXPECT_EQ(replies.get<Int64>(4999), 5000);
  EXPECT_EQ(replies.get<Array>(5000).get<BulkString>(4999).value(), "4999");
}

TEST_F(PocoRedis, Transaction) {
  EXPECT_EQ(client.execute<std::string>(Array() << "MULTI"), "OK");
  EXPECT_EQ(client.execute<std::string>(Command::incr("a")), "QUEUED");
  EXPECT_EQ(client.execute<std::string>(Command::sadd("s", "m")), "QUEUED");
  const auto results = client.execute<Array>(Array() << "EXEC");
  EXPECT_EQ(results.get<Int64>(0), 1);
  EXPECT_EQ(results.get<Int64>(1), 1);
}

TEST_F(PocoRedis, ScriptWithKeysAndArguments) {
  const auto script = "return {KEYS[1], tonumber(ARGV[1]) + 1}";
  const auto reply = client.execute<Array>(Array() << "EVAL" << script << "1"
                                                   << "k"
                                                   << "41");
  EXPECT_EQ(reply.get<BulkString>(0).value(), "k");
  EXPECT_EQ(reply.get<Int64>(1), 42);
}

TEST_F(PocoRedis, BlockedPopIsWokenByAnotherClient) {
  std::thread pusher([] {
    Client other(Address());
    const auto clients = [&other] {
      return other
          .execute<BulkString>(Array() << "INFO"
                                       << "clients")
          .value();
    };
    while (clients().find("blocked_clients:1") == std::string::npos) std::this_thread::yield();
    other.execute<Int64>(Command::lpush("queue", "job"));
  });
  const auto popped = client.execute<Array>(Command::brpop({"queue"}, 10));
  pusher.join();
  EXPECT_EQ(popped.get<BulkString>(1).value(), "job");
}

class Listener {
 public:
  void OnMessage(const void*, Poco::Redis::RedisEventArgs& args) {
    const auto* message = dynamic_cast<const Poco::Redis::Type<Array>*>(args.message().get());
    if (message == nullptr || message->value().size() != 3) return;
    const auto kind = message->value().get<BulkString>(0).value();
    if (kind == "subscribe") subscribed.set();
    if (kind != "message") return;
    text = message->value().get<BulkString>(2).value();
    received.set();
  }

  Poco::Event subscribed, received;
  std::string text;
};

TEST_F(PocoRedis, ReaderThreadGetsPublishedMessages) {
  Client subscriber(Address());
  AsyncReader reader(subscriber);
  Listener listener;
  reader.redisResponse += Poco::delegate(&listener, &Listener::OnMessage);
  reader.start();
  subscriber.execute<void>(Array() << "SUBSCRIBE"
                                   << "order_channel");
  subscriber.flush();
  ASSERT_TRUE(listener.subscribed.tryWait(5000));
  EXPECT_EQ(client.execute<Int64>(Array() << "PUBLISH"
                                          << "order_channel"
                                          << "New order: #12345"),
            1);
  ASSERT_TRUE(listener.received.tryWait(5000));
  EXPECT_EQ(listener.text, "New order: #12345");
  reader.stop();
  subscriber.execute<void>(Array() << "UNSUBSCRIBE");
  subscriber.flush();
}

TEST_F(PocoRedis, PoolOfConnections) {
  using Pool = Poco::ObjectPool<Client, Client::Ptr>;
  using Factory = Poco::PoolableObjectFactory<Client, Client::Ptr>;
  Poco::Net::SocketAddress address(Address());
  Pool pool(Factory(address), 4, 8);
  std::vector<std::thread> threads;
  for (int i = 0; i < 8; i++) {
    threads.emplace_back([&pool] {
      for (int n = 0; n < 50; n++) {
        Poco::Redis::PooledConnection connection(pool, 5000);
        static_cast<Client::Ptr>(connection)->execute<Int64>(Command::incr("n"));
      }
    });
  }
  for (auto& thread : threads) thread.join();
  EXPECT_EQ(client.execute<BulkString>(Command::get("n")).value(), "400");
}

}  // namespace
