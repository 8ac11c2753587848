// Replicas get the same commands as the append-only file.
#include "server/replication/replication_stream.h"

#include <gtest/gtest.h>

#include "server/storage/data_set.h"
#include "tests/support/test_client.h"
#include "tests/support/test_server.h"

namespace respite {
namespace {

using Target = JournalEntry::Target;

class ReplicationStreamTest : public testing::Test {
 protected:
  ReplicationStreamTest() : stream_(server_->services().data.dataset) {}

  std::string Text() const {
    std::string text;
    const Backlog& backlog = stream_.backlog();
    backlog.VisitFrom(backlog.Begin(), backlog.End(), [&](const BlobPart& part) { text += part.View(); });
    return text;
  }
  static std::string Requests(std::initializer_list<std::vector<std::string>> all) {
    std::string text;
    for (const auto& words : all) text += EncodeRequest(words);
    return text;
  }
  // One execution unit with these propagated commands.
  struct One {
    int db;
    std::vector<Bytes> words;
    uint8_t targets = Target::kEverybody;
  };
  void Append(const std::vector<One>& unit) {
    PropagatedCommands commands;
    for (const One& one : unit) commands.Add(one.db, one.words, one.targets);
    stream_.Append(PropagatedGroup(commands, 0));
  }

  TestServer server_;
  ReplicationStream stream_;
};

TEST_F(ReplicationStreamTest, CostsNothingBeforeItBegins) {
  TestClient client(server_);
  client.Run("SET a 1");
  EXPECT_FALSE(stream_.HasBacklog());
  EXPECT_EQ(server_->services().data.dataset.history.offset, 0);
  stream_.AppendRequest({"PING"});
  EXPECT_EQ(server_->services().data.dataset.history.offset, 0);
}

TEST_F(ReplicationStreamTest, NamesTheDatabaseWhereItChanges) {
  stream_.Begin();
  Append({{0, {"SET", "a", "1"}}});
  Append({{0, {"SET", "b", "1"}}});
  Append({{3, {"SET", "c", "1"}}});
  stream_.ForgetSelectedDb();
  Append({{3, {"SET", "d", "1"}}});
  EXPECT_EQ(Text(), Requests({{"SELECT", "0"},
                              {"SET", "a", "1"},
                              {"SET", "b", "1"},
                              {"SELECT", "3"},
                              {"SET", "c", "1"},
                              {"SELECT", "3"},
                              {"SET", "d", "1"}}));
  EXPECT_EQ(server_->services().data.dataset.history.offset, static_cast<int64_t>(Text().size()));
  EXPECT_EQ(stream_.backlog().End(), server_->services().data.dataset.history.offset);
}

TEST_F(ReplicationStreamTest, EncloseSeveralEffectsWithMulti) {
  stream_.Begin();
  Append({{0, {"SET", "a", "1"}}, {1, {"SET", "b", "1"}}});
  EXPECT_EQ(Text(),
            Requests({{"MULTI"}, {"SELECT", "0"}, {"SET", "a", "1"}, {"SELECT", "1"}, {"SET", "b", "1"}, {"EXEC"}}));
}

TEST_F(ReplicationStreamTest, TakesWhatIsForReplicasOnly) {
  stream_.Begin();
  Append({{5, {"SET", "x", "1"}, Target::kFile}});
  EXPECT_EQ(Text(), "");
  EXPECT_EQ(server_->services().data.dataset.history.offset, 0);
  Append({{5, {"SET", "x", "1"}, Target::kFile}, {0, {"SET", "a", "1"}, Target::kReplicas}});
  EXPECT_EQ(Text(), Requests({{"SELECT", "0"}, {"SET", "a", "1"}}));
}

TEST_F(ReplicationStreamTest, OwnEffectsOfAReplicaAreNobodysBusiness) {
  stream_.Begin();
  stream_.SetSource(ReplicationStream::Source::kPrimary);
  Append({{0, {"SET", "a", "1"}}});
  stream_.AppendRequest({"PING"});
  EXPECT_EQ(Text(), "");
  stream_.AppendApplied({BlobRef::Copy("xPINGx"), 1, 4});
  EXPECT_EQ(Text(), "PING");
  EXPECT_EQ(server_->services().data.dataset.history.offset, 4);
}

TEST_F(ReplicationStreamTest, AReplicaWithoutBacklogKeepsCount) {
  stream_.SetSource(ReplicationStream::Source::kPrimary);
  stream_.AppendApplied({BlobRef::Copy("abc"), 0, 3});
  EXPECT_EQ(server_->services().data.dataset.history.offset, 3);
  stream_.Begin();
  EXPECT_EQ(stream_.backlog().Begin(), 3);
}

TEST_F(ReplicationStreamTest, EndDropsTheBacklog) {
  stream_.Begin();
  Append({{0, {"SET", "a", "1"}}});
  stream_.End();
  EXPECT_FALSE(stream_.HasBacklog());
  EXPECT_EQ(stream_.backlog().RawBytes(), 0);
  const int64_t offset = server_->services().data.dataset.history.offset;
  TestClient client(server_);
  client.Run("SET b 1");
  EXPECT_EQ(server_->services().data.dataset.history.offset, offset);
}

TEST_F(ReplicationStreamTest, ABeginningInTheMiddleCountsOn) {
  server_->services().data.dataset.history.offset = 1000;
  stream_.Begin();
  stream_.AppendRequest({"PING"});
  EXPECT_EQ(stream_.backlog().Begin(), 1000);
  EXPECT_EQ(stream_.backlog().End(), 1014);
  stream_.Begin();  // harmless
  EXPECT_EQ(stream_.backlog().Begin(), 1000);
}

// Parts of a transaction that are too long for the shared log.
TEST_F(ReplicationStreamTest, LongEffectsAreWhole) {
  stream_.Begin();
  const std::string value(100'000, 'v');
  Append({{0, {"SET", "a", value}}, {0, {"SET", "b", "1"}}});
  EXPECT_EQ(Text(), Requests({{"MULTI"}, {"SELECT", "0"}, {"SET", "a", value}, {"SET", "b", "1"}, {"EXEC"}}));
}

// Sends the same execution units through a server that has both an append-only file and replicas.
TEST_F(ReplicationStreamTest, IsFramedAsTheAppendOnlyFile) {
  TestServer server({.directives = {"appendonly yes", "aof-use-rdb-preamble no", "save \"\""}});
  TestClient client(server);
  ASSERT_EQ(LoadDataAtStartup(server->services()), LoadOutcome::kAbsent);
  server.RunCronFor(1000);
  ReplicationStream stream(server->services().data.dataset);
  stream.Begin();
  std::string path;
  for (const std::string& one : server.files().Paths())
    if (one.ends_with(".incr.aof")) path = one;
  ASSERT_NE(path, "");
  const size_t before = server.files().Content(path).size();
  client.Run("SET a 1");
  client.Run("SELECT 2");
  client.Run("MULTI");
  client.Run("SET b 1");
  client.Run("SPOP nobody");
  client.Run("RPUSH l 1 2 3");
  client.Run("EXEC");
  client.Run({"EVAL", "redis.call('SET', 'c', '1') redis.call('SELECT', 4) redis.call('SET', 'd', 1)", "0"});
  client.Run("SET e 1 EX 100");
  client.Run("FLUSHALL");
  server.RunCronFor(1000);
  std::string text;
  const Backlog& backlog = stream.backlog();
  backlog.VisitFrom(0, backlog.End(), [&](const BlobPart& part) { text += part.View(); });
  EXPECT_EQ(text, server.files().Content(path).substr(before));
}

}  // namespace
}  // namespace respite
