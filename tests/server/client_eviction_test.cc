// maxmemory-clients: which memory is counted, and which clients are closed.
#include "base/str_cat.h"
#include "server/clients/client_memory.h"
#include "tests/support/command_test.h"

namespace respite {
namespace {

class ClientEviction : public testing::Test {
 protected:
  // Returns a client with an incomplete request of this length.
  std::unique_ptr<TestClient> Holding(size_t bytes) {
    auto client = std::make_unique<TestClient>(server_);
    client->Raw(StrCat("*2\r\n$", bytes, "\r\n", std::string(bytes, 'v')));
    return client;
  }
  void Limit(const std::string& value) { control_.Run({"CONFIG", "SET", "maxmemory-clients", value}); }
  size_t Sum() {
    size_t sum = 0;
    server_->services().clients.registry.ForEach(
        [&](const Session& session) { sum += session.closing ? 0 : session.HeldBytes(); });
    return sum;
  }
  std::string Field(TestClient& client, const std::string& name) {
    const std::string line = client.Run("CLIENT INFO").Text();
    const size_t begin = line.find(" " + name + "=") + name.size() + 2;
    return line.substr(begin, line.find(' ', begin) - begin);
  }

  TestServer server_;
  TestClient control_{server_};
};

TEST_F(ClientEviction, TheLargestGoFirstUntilTheOthersFit) {
  auto small = Holding(200'000);
  auto large = Holding(3'000'000);
  auto medium = Holding(1'000'000);
  Limit("2mb");
  EXPECT_TRUE(large->Closed());
  EXPECT_FALSE(medium->Closed());
  Limit("500kb");
  EXPECT_TRUE(medium->Closed());
  EXPECT_FALSE(small->Closed());
  EXPECT_EQ(server_->services().env.stats.evicted_clients, 2u);
}

TEST_F(ClientEviction, TheSumIsThatOfAllClients) {
  auto early = Holding(300'000);
  Limit("100mb");
  auto late = Holding(700'000);
  TestClient third(server_);
  third.Run("SUBSCRIBE a b c");
  third.Run("PSUBSCRIBE p*");
  EXPECT_EQ(server_->services().clients.memory.TotalBytes(), Sum());
  early.reset();
  EXPECT_EQ(server_->services().clients.memory.TotalBytes(), Sum());
  Limit("0");
  EXPECT_EQ(server_->services().clients.memory.TotalBytes(), 0u);
}

TEST_F(ClientEviction, AnArgumentInASingleReadCounts) {
  Limit("3mb");
  TestClient client(server_);
  const std::string value(4'000'000, 'v');
  client.Raw(StrCat("*3\r\n$3\r\nSET\r\n$1\r\nk\r\n$", value.size(), "\r\n", value, "\r\n"));
  EXPECT_TRUE(client.Closed());
  EXPECT_THAT(control_.Run("EXISTS k"), Int(0));
}

TEST_F(ClientEviction, NoEvictClientsStay) {
  auto large = std::make_unique<TestClient>(server_);
  large->Run("CLIENT NO-EVICT ON");
  large->Raw("*2\r\n$1000000\r\n" + std::string(1'000'000, 'v'));
  auto small = Holding(150'000);
  Limit("200kb");
  EXPECT_FALSE(large->Closed());
  EXPECT_TRUE(small->Closed()) << "what cannot go counts all the same";
}

TEST_F(ClientEviction, NoEvictCanBeTakenBack) {
  TestClient client(server_);
  client.Run("CLIENT NO-EVICT ON");
  control_.Run("CLIENT NO-EVICT ON");
  client.Run({"SET", "k", std::string(400'000, 'v')});
  client.SetReading(TestClient::Reading::kNo);
  client.Send("GET k");
  Limit("200kb");
  EXPECT_FALSE(client.Closed());
  client.Send("CLIENT NO-EVICT OFF");
  EXPECT_TRUE(client.Closed());
}

TEST_F(ClientEviction, AShareOfMaxMemory) {
  Limit("10%");
  auto client = Holding(500'000);
  EXPECT_FALSE(client->Closed()) << "a share of no limit is no limit";
  control_.Run("CONFIG SET maxmemory 1gb");
  EXPECT_FALSE(client->Closed());
  control_.Run("CONFIG SET maxmemory 4mb");
  EXPECT_TRUE(client->Closed());
}

TEST_F(ClientEviction, ALimitTooSmallToWorkWithIsRaised) {
  Limit("1");
  EXPECT_FALSE(control_.Closed());
  auto client = Holding(60'000);
  EXPECT_FALSE(client->Closed());
  auto larger = Holding(120'000);
  EXPECT_TRUE(larger->Closed());
  EXPECT_FALSE(client->Closed());
}

TEST_F(ClientEviction, WhatIsQueuedWatchedTrackedAndSubscribedCounts) {
  Limit("150kb");
  const auto flood = [&](const std::function<std::string(int)>& line, const char* first = nullptr) {
    TestClient client(server_);
    if (first != nullptr) client.Run(first);
    int sent = 0;
    while (!client.Closed() && sent < 20'000) client.Run(line(sent++));
    return sent < 20'000;
  };
  const auto numbered = [](const char* words) { return [words](int i) { return StrCat(words, i); }; };
  EXPECT_TRUE(flood([](int) { return "SET k " + std::string(5000, 'v'); }, "MULTI"));
  EXPECT_TRUE(flood(numbered("WATCH k")));
  EXPECT_TRUE(flood(numbered("SUBSCRIBE c")));
  EXPECT_TRUE(flood(numbered("PSUBSCRIBE p")));
  EXPECT_TRUE(flood(numbered("SSUBSCRIBE s")));
  EXPECT_TRUE(flood([](int i) { return StrCat("CLIENT TRACKING ON BCAST PREFIX ", 100'000 + i); }));
  EXPECT_FALSE(flood(numbered("CLIENT SETNAME n")));
}

TEST_F(ClientEviction, MessagesOfOthersCount) {
  Limit("1mb");
  TestClient subscriber(server_);
  subscriber.Run("SUBSCRIBE news");
  subscriber.SetReading(TestClient::Reading::kNo);
  for (int i = 0; i < 30 && !subscriber.Closed(); ++i) control_.Run({"PUBLISH", "news", std::string(50'000, 'm')});
  EXPECT_TRUE(subscriber.Closed());
  EXPECT_FALSE(control_.Closed());
}

TEST_F(ClientEviction, ItHappensBeforeTheNextCommandOfTheSameClient) {
  control_.Run({"SET", "k", std::string(400'000, 'v')});
  Limit("1mb");
  TestClient client(server_);
  client.SetReading(TestClient::Reading::kNo);
  std::string pipeline;
  for (int i = 0; i < 10; ++i) pipeline += EncodeRequest({"GET", "k"}) + EncodeRequest({"INCR", "n"});
  client.Raw(pipeline);
  EXPECT_TRUE(client.Closed());
  EXPECT_LT(std::stoi(control_.Run("GET n").Text()), 4);
}

TEST_F(ClientEviction, ARequestThatWaitsCounts) {
  Limit("1mb");
  TestClient waiter(server_);
  waiter.Send("BLPOP " + std::string(400'000, 'k') + " 0");
  EXPECT_GT(waiter.session().HeldBytes(), 400'000u);
  EXPECT_FALSE(waiter.Closed());
  auto other = Holding(700'000);
  EXPECT_TRUE(other->Closed());
  EXPECT_FALSE(waiter.Closed());
}

TEST_F(ClientEviction, TotalMemoryIsTheSumOfItsParts) {
  TestClient client(server_);
  const auto total = [&] { return std::stoul(Field(client, "tot-mem")); };
  const size_t idle = total();
  EXPECT_GT(idle, sizeof(Session));
  client.Run({"CLIENT", "SETNAME", std::string(2000, 'n')});
  EXPECT_GE(total(), idle + 2000);
  client.Run({"WATCH", "k"});
  const size_t watching = total();
  EXPECT_GT(watching, idle + 2000);
  EXPECT_EQ(Field(client, "multi-mem"), "0");
}

}  // namespace
}  // namespace respite
