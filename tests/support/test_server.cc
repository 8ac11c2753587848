#include "tests/support/test_server.h"

#include <gtest/gtest.h>

#include <sstream>

#include "base/str_cat.h"
#include "datatypes/digest.h"
#include "datatypes/hash.h"
#include "persistence/dump_payload.h"
#include "persistence/rdb_value_reader.h"
#include "server/catalogue/refusals.h"
#include "server/dataset/value_names.h"
#include "tests/support/test_client.h"

namespace respite {

namespace {

constexpr int64_t kDayMs = 86'400'000;

std::unique_ptr<Config> ConfigOf(const std::vector<std::string>& directives) {
  CommandLine line;
  line.options = "locale-collate C\n";  // makes the collation independent of the environment of the tests
  for (const std::string& directive : directives) line.options += directive + "\n";
  std::istringstream nothing;
  auto config = Config::Load(line, nothing);
  if (!config.ok()) throw std::runtime_error("bad directives for a test server");
  return std::move(config.value());
}

// Describes the fields with deadlines, in order; a digest covers only whether there are some.
std::string FieldDeadlinesText(const Entry& entry) {
  if (!entry.HasFieldDeadlines()) return "";
  std::map<std::string, int64_t> deadlines;
  const Hash hash = Hash::WithExpiredFields(entry);
  hash.ForEach([&](Bytes field, Bytes) {
    const int64_t deadline_ms = hash.DeadlineOf(field).value_or(kNoDeadline);
    if (deadline_ms != kNoDeadline) deadlines[Quoted(field)] = deadline_ms;
  });
  std::string text = " with deadlines";
  for (const auto& [field, deadline_ms] : deadlines) StrAppend(text, " ", field, "=", deadline_ms);
  return text;
}

std::string ValueText(const Entry& entry) {
  switch (entry.Type()) {
    case ValueType::kString:
      return "string " + Quoted(StringText(entry).View());
    default: {
      Digest digest;
      MixValue(digest, entry);
      return std::string(TypeName(entry.Type())) + " " + digest.Hex() + FieldDeadlinesText(entry);
    }
  }
}

std::vector<std::string> LibrariesOf(Node& server) {
  std::vector<std::string> codes;
  for (const auto& [name, library] : server.services().execution.function_libraries.All())
    codes.push_back(library->code);
  return codes;
}

}  // namespace

void RecordingJournal::Append(const PropagatedGroup& group) {
  ++units_;
  for (size_t i = 0; i < group.Count(); ++i) {
    const JournalEntry entry = group[i];
    records_.push_back({entry.db, entry.targets, DecodeRequest(entry.request)});
  }
}

std::vector<std::string> RecordingJournal::Lines() const {
  std::vector<std::string> lines;
  for (const RecordingJournal::Record& record : records_) {
    std::string line = StrCat(record.db, ":");
    for (const std::string& word : record.words) line += " " + word;
    lines.push_back(line);
  }
  return lines;
}

std::vector<std::string> DecodeRequest(Bytes request) {
  RequestParser parser;
  std::vector<char> scratch(request.size() + 1);
  RequestBatch batch;
  while (!request.empty()) {
    const auto room = parser.ReadTarget(scratch);
    const size_t taken = std::min(room.size(), request.size());
    request.copy(room.data(), taken);
    request.remove_prefix(taken);
    parser.Received(taken);
    if (parser.ParseInto(batch, {}) == RequestParser::Status::kRequest) break;
    parser.SaveRest();
  }
  if (batch.requests.size() != 1 || !request.empty()) throw std::runtime_error("not one request");
  const auto words = batch.Words(batch.requests[0]);
  return {words.begin(), words.end()};
}

TestServer::TestServer() : TestServer(Options()) {}

TestServer::TestServer(Options options)
    : options_(std::move(options)),
      log_(clock_),
      config_(ConfigOf(options_.directives)),
      server_([this] {
        clock_.SetWallMs(options_.wall_ms);
        log_.SetLevel(options_.log_file.empty() ? LogLevel::kNothing : LogLevel::kDebug);
        log_.SetFile(options_.log_file);
        return std::make_unique<Node>(
            Node::Parts{*config_, clock_, clock_, log_, HashKey{options_.seed}, options_.seed, files(), forker_});
      }()),
      pump_(std::make_unique<Pump>(server_->services())) {
  for (const ConfigLine& line : config_->lines().rename_command) {
    server_->services().env.commands.Rename(line.words[1], line.words[2]);
  }
  server_->runtime().host.Attach(this);
  server_->services().data.dataset.journals.Attach(journal_);
}

TestServer::~TestServer() { server_->services().data.dataset.journals.Detach(journal_); }

bool TestServer::ServeDuringLongTask() {
  auto pump = std::exchange(pump_, std::make_unique<Pump>(server_->services()));
  if (long_tasks_) long_tasks_();
  server_->housekeeping().EndTurnDuringLongTask();
  pump_ = std::move(pump);
  return !exit_code_;
}

// With TEST commands the server has its own clock, which may stand still or run faster than the test's.
void TestServer::WakeAt(int64_t monotonic_ms) {
  wake_at_ms_ = monotonic_ms;
  if (!server_->services().lab.clock.HasMovableClock()) return;
  const int64_t real_us = server_->services().env.clock.RealUsAtMonotonicUs(monotonic_ms * 1000);
  if (real_us == Clock::kNever) return wake_at_ms_.reset();
  wake_at_ms_ = real_us / 1000 + 1;
}

void TestServer::AdvanceMs(int64_t elapsed_ms) {
  const int64_t end_ms = clock_.MonotonicMs() + elapsed_ms;
  while (wake_at_ms_ && *wake_at_ms_ <= end_ms) {
    clock_.AdvanceMs(std::max<int64_t>(*wake_at_ms_ - clock_.MonotonicMs(), 0));
    wake_at_ms_.reset();
    server_->housekeeping().Wake();
    EndTurn();
  }
  clock_.AdvanceMs(end_ms - clock_.MonotonicMs());
  EndTurn();
}

void TestServer::Cron() {
  server_->housekeeping().Tick();
  EndTurn();
}

void TestServer::RunCronFor(int64_t elapsed_ms) {
  for (int64_t passed_ms = 0; passed_ms < elapsed_ms;) {
    int64_t step_ms =
        std::min<int64_t>(1000 / server_->services().clients.timer_frequency.Hz(), elapsed_ms - passed_ms);
    AdvanceMs(step_ms);
    passed_ms += step_ms;
    Cron();
  }
}

void TestServer::EndTurn() {
  if (server_->services().env.phase.IsInLongTask())
    return server_->housekeeping().EndTurnDuringLongTask();  // serves other clients in the middle of a turn
  server_->housekeeping().EndTurn();
  while (!tasks_.empty()) {
    auto task = std::move(tasks_.front());
    tasks_.pop_front();
    task();
    server_->housekeeping().EndTurn();
  }
}

Snapshot SnapshotOf(Node& server) {
  Snapshot snapshot;
  for (int db = 0; db < server.services().data.dataset.keyspace.Count(); ++db) {
    server.services().data.dataset.keyspace[db].ForEach([&](const Entry* entry) {
      std::string& text = snapshot[StrCat(db, " ", Quoted(entry->Key()))];
      text = ValueText(*entry);
      if (entry->Deadline() != kNoDeadline) StrAppend(text, " until ", entry->Deadline());
    });
  }
  return snapshot;
}

std::string SnapshotDifference(const Snapshot& expected, const Snapshot& actual) {
  constexpr int kShown = 5;
  std::string out;
  int differences = 0;
  auto show = [&](const std::string& line) {
    if (++differences <= kShown) out += "  " + line + "\n";
  };
  for (const auto& [key, value] : expected) {
    auto found = actual.find(key);
    if (found == actual.end()) {
      show(key + ": lost " + value);
    } else if (found->second != value) {
      show(key + ": " + value + " became " + found->second);
    }
  }
  for (const auto& [key, value] : actual)
    if (!expected.contains(key)) show(key + ": made up " + value);
  if (differences > kShown) StrAppend(out, "  and ", differences - kShown, " more\n");
  return out;
}

void ExpectDumpsMatch(TestServer& server) {
  for (int db = 0; db < server->services().data.dataset.keyspace.Count(); ++db) {
    const Database& data = server->services().data.dataset.keyspace[db];
    data.ForEach([&](const Entry* entry) {
      const std::string payload = DumpPayload(*entry, RdbCompression::kOn);
      RdbInput input(*VerifyPayload(payload, PayloadCheck::kChecksum));
      const uint8_t type = input.Byte();
      auto copy = ReadRdbValue(input, type, {entry->Key(), 0, server->services().data.dataset.limits, data.hash_key()});
      ASSERT_TRUE(copy) << Quoted(entry->Key()) << " as RDB: " << copy.error().why;
      // A payload has no deadline, but a digest covers it.
      const EntryPtr plain(Entry::Clone(*entry, entry->Key(), kNoDeadline, entry->Access()));
      EXPECT_EQ(ValueText(*copy.value()), ValueText(*plain)) << Quoted(entry->Key()) << " through RDB";
    });
  }
}

void ExpectSnapshotMatches(TestServer& server) {
  server.files().Recover();
  if (server->services().storage.snapshots.IsRunning()) server->services().storage.child_processes.Kill();
  ASSERT_EQ(server->services().storage.snapshots.Save(), Snapshots::Outcome::kDone);
  TestServer::Options options = server.options();
  options.seed ^= 0x9e3779b97f4a7c15ull;
  options.wall_ms -= kDayMs + 12'345;  // earlier, so that nothing has expired
  options.files = &server.files();
  TestServer loaded(options);
  ASSERT_EQ(loaded.Load(), LoadOutcome::kLoaded);
  EXPECT_EQ(SnapshotDifference(SnapshotOf(*server), SnapshotOf(*loaded)), "") << "after SAVE and loading";
  EXPECT_EQ(LibrariesOf(*server), LibrariesOf(*loaded));
}

void ExpectReplayMatches(TestServer& server) {
  TestServer::Options options = server.options();
  options.seed ^= 0x9e3779b97f4a7c15ull;
  // Earlier, so that deadlines are in the future: only the journal may remove keys.
  options.wall_ms -= kDayMs + 12'345;
  TestServer repeated(options);
  TestClient client(repeated);
  client.session().authenticated = true;
  for (const RecordingJournal::Record& record : server.journal().Records()) {
    client.session().db = record.db;
    TestReply reply = client.Run(record.words);
    if (reply.HasValue() && reply.tree->IsError()) {
      ADD_FAILURE() << "The journal says what a server refuses: " << ::testing::PrintToString(record.words) << " gives "
                    << reply;
    }
  }
  std::string difference = SnapshotDifference(SnapshotOf(*server), SnapshotOf(*repeated));
  EXPECT_EQ(difference, "") << "after replay of " << ::testing::PrintToString(server.journal().Lines());
}

}  // namespace respite
