#include "server/clients/clients.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <vector>

#include "tests/support/reply_matchers.h"
#include "tests/support/test_client.h"
#include "tests/support/test_server.h"

namespace respite {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

// A transport whose flushes take time.
class SlowTransport final : public Transport {
 public:
  SlowTransport(ManualClock& clock, std::vector<uint64_t>& sent, Session& session)
      : clock_(clock), sent_(sent), session_(session) {
    session.transport = this;
  }
  void Flush(size_t most_bytes) override {
    clock_.AdvanceUs(400);
    sent_.push_back(session_.id);
    last_most_bytes = most_bytes;
  }
  void Resume() override {}
  void Close() override {}
  int FileDescriptor() const override { return -1; }

  size_t last_most_bytes = 0;

 private:
  ManualClock& clock_;
  std::vector<uint64_t>& sent_;
  Session& session_;
};

class ClientsTest : public testing::Test {
 protected:
  ClientsTest() {
    for (int i = 0; i < 8; ++i) {
      sessions_.push_back(&clients_.Create(0));
      transports_.push_back(std::make_unique<SlowTransport>(server_.clock(), sent_, *sessions_.back()));
    }
  }
  ~ClientsTest() override {
    for (Session* session : sessions_) clients_.Remove(*session);
  }
  // The ids of the sessions flushed in a turn.
  std::vector<uint64_t> Flush() {
    clients_.FlushQueued(server_.clock());
    return std::exchange(sent_, {});
  }

  TestServer server_;
  Clients& clients_ = server_->services().clients.registry;
  std::vector<uint64_t> sent_;
  std::vector<Session*> sessions_;  // ids 1 to 8
  std::vector<std::unique_ptr<SlowTransport>> transports_;
};

TEST_F(ClientsTest, AllRepliesAreSentInTheirTurn) {
  for (Session* session : sessions_) clients_.QueueFlush(*session);
  EXPECT_THAT(Flush(), ElementsAre(1, 2, 3, 4, 5, 6, 7, 8));
  EXPECT_FALSE(clients_.HasUnsentMessages());
  EXPECT_THAT(Flush(), IsEmpty());
}

TEST_F(ClientsTest, TheMoreClientsGetRepliesTheLessEachMayTakeInATurn) {
  clients_.QueueFlush(*sessions_[0]);
  Flush();
  const size_t alone = transports_[0]->last_most_bytes;
  for (Session* session : sessions_) clients_.QueueFlush(*session);
  Flush();
  EXPECT_GE(transports_[0]->last_most_bytes, 64 * 1024U);
  EXPECT_LE(transports_[0]->last_most_bytes, alone);
  for (int i = 0; i < 40; ++i) {
    sessions_.push_back(&clients_.Create(0));
    transports_.push_back(std::make_unique<SlowTransport>(server_.clock(), sent_, *sessions_.back()));
  }
  for (Session* session : sessions_) clients_.QueueFlush(*session);
  Flush();
  EXPECT_LE(transports_[0]->last_most_bytes * sessions_.size(), 8U << 20);
  EXPECT_LT(transports_[0]->last_most_bytes, alone);
}

TEST_F(ClientsTest, MessagesGetAShareOfEachTurnBehindTheReplies) {
  for (size_t i = 0; i < 6; ++i) clients_.QueueMessages(*sessions_[i]);
  clients_.QueueFlush(*sessions_[7]);
  EXPECT_THAT(Flush(), ElementsAre(8, 1, 2, 3));
  EXPECT_TRUE(clients_.HasUnsentMessages());
  EXPECT_FALSE(clients_.HasUnsentMessagesFor(*sessions_[0]));
  EXPECT_TRUE(clients_.HasUnsentMessagesFor(*sessions_[5]));
  clients_.QueueMessages(*sessions_[0]);
  EXPECT_THAT(Flush(), ElementsAre(4, 5, 6)) << "in the order in which they came";
  EXPECT_TRUE(clients_.HasUnsentMessages());
  EXPECT_THAT(Flush(), ElementsAre(1));
  EXPECT_FALSE(clients_.HasUnsentMessages());
}

TEST_F(ClientsTest, RemovedSessionsAreNotFlushed) {
  for (size_t i = 0; i < 6; ++i) clients_.QueueMessages(*sessions_[i]);
  Flush();
  clients_.Remove(*sessions_[4]);
  sessions_.erase(sessions_.begin() + 4);
  EXPECT_THAT(Flush(), ElementsAre(4, 6));
}

// A client whose connection was closed may immediately ask INFO over another one, which must not count the first.
TEST_F(ClientsTest, InfoCountsNoClosingClients) {
  TestClient client(server_);
  // Eight sessions, and this client.
  EXPECT_THAT(client.Run("INFO clients").Text(), HasSubstr("connected_clients:9\r\n"));
  clients_.Close(*sessions_[3]);
  EXPECT_THAT(client.Run("INFO clients").Text(), HasSubstr("connected_clients:8\r\n"));
}

// After each of these scripts, the server closes the session in which scripts run. It counts as no client. Otherwise
// the server would soon refuse all clients, because their number seems to exceed maxclients.
TEST(ScriptSessionTest, IsNotCountedWhenItCloses) {
  TestServer server({.directives = {"enable-debug-command yes"}});
  TestClient client(server);
  client.Run("DEBUG SET-DISABLE-DENY-SCRIPTS 1");
  for (int i = 0; i < 3; ++i) EXPECT_THAT(client.Run("EVAL 'return 1' 0"), Int(1));
  EXPECT_EQ(server->services().clients.registry.OpenCount(), 1u);
}

}  // namespace
}  // namespace respite
