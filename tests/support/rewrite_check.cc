#include "tests/support/rewrite_check.h"

#include <gtest/gtest.h>

#include "base/str_cat.h"
#include "datatypes/stream.h"
#include "persistence/aof_reader.h"
#include "persistence/aof_rewriter.h"
#include "tests/support/faulty_files.h"
#include "tests/support/test_client.h"

namespace respite {

namespace {

std::string GroupText(Bytes name, const StreamGroup& group) {
  std::string text = StrCat(" group ", Quoted(name), " at ", StreamIdText(group.last_id).Text(), " read ",
                            group.entries_read, " pending");
  for (auto at = group.pending().First(); !at.AtEnd(); at.Next()) {
    const PendingEntry& pending = at.Get();
    StrAppend(text, " ", StreamIdText(at.Id()).Text(), "=", Quoted(pending.ConsumerName()), "@", pending.delivered_ms,
              "*", pending.deliveries);
  }
  text += " consumers";
  for (const auto& [consumer_name, consumer] : group.consumers()) text += " " + Quoted(consumer_name);
  return text;
}

// Describes the metadata of a stream, which a digest does not cover.
std::string RememberedText(const StreamLog& log) {
  std::string text = StrCat(" last ", StreamIdText(log.LastId()).Text(), " deleted ",
                            StreamIdText(log.MaxDeletedId()).Text(), " added ", log.EntriesAdded());
  for (const auto& [name, group] : log.groups()) text += GroupText(name, group);
  return text;
}

Snapshot SnapshotWithStreams(Node& server) {
  Snapshot snapshot = SnapshotOf(server);
  for (int db = 0; db < server.services().data.dataset.keyspace.Count(); ++db) {
    server.services().data.dataset.keyspace[db].ForEach([&](const Entry* entry) {
      if (entry->Type() != ValueType::kStream) return;
      snapshot[StrCat(db, " ", Quoted(entry->Key()))] +=
          RememberedText(static_cast<const StreamLog&>(*entry->ObjectValue()));
    });
  }
  return snapshot;
}

std::vector<Bytes> LibraryCodes(Node& server) {
  std::vector<Bytes> codes;
  for (const auto& [name, library] : server.services().execution.function_libraries.All())
    codes.push_back(library->code);
  return codes;
}

std::vector<WordList> Records(File& file) {
  std::vector<WordList> records;
  AofReader reader(file);
  RequestBatch batch;
  AofReader::Status status;
  while ((status = reader.Next(batch)) == AofReader::Status::kRecords) {
    for (const RequestBatch::Request& request : batch.requests) {
      const auto words = batch.Words(request);
      records.emplace_back(words.begin(), words.end());
    }
  }
  EXPECT_EQ(status, AofReader::Status::kEnd);
  return records;
}

}  // namespace

std::vector<WordList> RewriteCommands(Node& server) {
  FaultyFiles files;
  auto file = files.Open("base", FileSystem::Mode::kCreate);
  const auto saved =
      WriteAofBaseAsCommands(*file.value(), server.services().data.dataset.keyspace, LibraryCodes(server), {}, nullptr);
  EXPECT_TRUE(saved);
  return Records(*file.value());
}

void RepeatRecord(TestServer& server, const std::vector<WordList>& commands) {
  const auto session = server->services().clients.registry.CreateDetached();
  Executor& executor = server->services().execution.executor;
  for (const WordList& command : commands) {
    const std::vector<Bytes> words(command.begin(), command.end());
    Unit unit(server->services().data.dataset, server.clock().WallMs(), ExpiryRule::kIgnoreDeadlines,
              Unit::Origin::kReplayed);
    const auto done = executor.Replay(RequestPath::kFile, unit, *session, *executor.Resolve(words), words);
    EXPECT_TRUE(done) << "A record says what a server refuses: " << ::testing::PrintToString(command) << " gives "
                      << done.error();
    unit.Close();
  }
}

void ExpectRewriteMatches(TestServer& server) {
  const std::vector<WordList> commands = RewriteCommands(*server);
  if (commands.empty()) return;
  TestServer::Options options = server.options();
  options.files = nullptr;
  options.seed ^= 0x9e3779b97f4a7c15ull;
  options.wall_ms = server.clock().WallMs();
  TestServer repeated(options);
  RepeatRecord(repeated, commands);
  const std::string difference = SnapshotDifference(SnapshotWithStreams(*server), SnapshotWithStreams(*repeated));
  EXPECT_EQ(difference, "") << "after a rewrite to " << ::testing::PrintToString(commands);
  const auto codes = LibraryCodes(*server);
  const auto repeated_codes = LibraryCodes(*repeated);
  EXPECT_TRUE(std::equal(codes.begin(), codes.end(), repeated_codes.begin(), repeated_codes.end()));
}

}  // namespace respite
