// TestServer: a whole server inside the test, without sockets, threads or real time.
//
//   TestServer server;
//   TestClient client(server);
//   EXPECT_THAT(client.Run("SET k v"), Ok());
//   server.clock().AdvanceMs(1000);
//   server.Cron();
//
// A journal records everything written; ExpectReplayMatches replays it on a second server.
#pragma once

#include <cstdint>
#include <cstdlib>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/log.h"
#include "server/config/config.h"
#include "server/execution/pump.h"
#include "server/node/node.h"
#include "server/storage/rdb_loader.h"
#include "tests/support/faulty_files.h"
#include "tests/support/in_process_forker.h"

namespace respite {

// Returns the number in an environment variable, which sets the length or the seed of a random test.
inline uint64_t NumberFromEnvironment(const char* name, uint64_t fallback) {
  const char* const text = std::getenv(name);
  return text == nullptr ? fallback : std::strtoull(text, nullptr, 10);
}

// Records every propagated command in order.
class RecordingJournal final : public Journal {
 public:
  struct Record {
    int db;
    uint8_t targets;
    std::vector<std::string> words;
  };

  void Append(const PropagatedGroup& group) override;
  const std::vector<Record>& Records() const { return records_; }
  // The number of execution units that changed data.
  size_t Units() const { return units_; }
  // One line for each propagated command: `0: SET k v PXAT 1000`.
  std::vector<std::string> Lines() const;

 private:
  std::vector<Record> records_;
  size_t units_ = 0;
};

// The arguments of one RESP request.
std::vector<std::string> DecodeRequest(Bytes request);

class TestServer final : public Host {
 public:
  struct Options {
    std::vector<std::string> directives = {};  // lines of redis.conf
    uint64_t seed = 20090210;
    int64_t wall_ms = 1'700'000'000'000;
    FaultyFiles* files = nullptr;  // null: it has its own; several servers may share files one after another
    std::string log_file = {};     // a real file; empty: no log
  };

  TestServer();
  explicit TestServer(Options options);
  ~TestServer() override;

  Node& operator*() { return *server_; }
  Node* operator->() { return server_.get(); }
  Node& server() { return *server_; }
  ManualClock& clock() { return clock_; }
  Pump& pump() { return *pump_; }
  RecordingJournal& journal() { return journal_; }
  FaultyFiles& files() { return options_.files != nullptr ? *options_.files : own_files_; }
  InProcessForker& forker() { return forker_; }
  const Options& options() const { return options_; }

  // Loads the dump file, as a starting server does.
  LoadOutcome Load() { return LoadDump(server_->services(), {}); }

  // Runs one tick of the timer and ends its turn.
  void Cron();
  // Runs ticks for this time, at the intervals of CurrentHz().
  void RunCronFor(int64_t elapsed_ms);
  // Lets time pass without ticks, wakes the server at the times that it requested, and ends the turn.
  void AdvanceMs(int64_t elapsed_ms);
  // Ends a turn: runs posted tasks and sends replies until nothing is left.
  void EndTurn();

  // Sets what other clients do when a script runs long enough for them to be served.
  void DuringLongTasks(std::function<void()> others) { long_tasks_ = std::move(others); }

  // The exit code with which the server was stopped.
  std::optional<int> StoppedWith() const { return exit_code_; }

  // Host.
  void Stop(int exit_code) override { exit_code_ = exit_code; }
  void Post(std::function<void()> task) override { tasks_.push_back(std::move(task)); }
  void WakeAt(int64_t monotonic_ms) override;
  void StartTurnAt(int64_t /*real_us*/) override {}  // AdvanceMs ends a turn anyway
  bool ServeDuringLongTask() override;

 private:
  Options options_;
  ManualClock clock_;
  Logger log_;
  std::unique_ptr<Config> config_;
  RecordingJournal journal_;
  FaultyFiles own_files_;
  InProcessForker forker_;
  std::deque<std::function<void()>> tasks_;
  std::unique_ptr<Node> server_;
  std::unique_ptr<Pump> pump_;
  std::function<void()> long_tasks_;
  std::optional<int> exit_code_;
  std::optional<int64_t> wake_at_ms_;
};

// Maps "0 key" to type, value and deadline, regardless of the encoding; includes expired keys that were not removed
// yet.
using Snapshot = std::map<std::string, std::string>;
Snapshot SnapshotOf(Node& server);
// Describes some differences; empty if there are none.
std::string SnapshotDifference(const Snapshot& expected, const Snapshot& actual);

// Checks that each value survives DUMP and RESTORE.
void ExpectDumpsMatch(TestServer& server);

// Checks that the data survives saving, and loading in a second server.
void ExpectSnapshotMatches(TestServer& server);

// Replays the journal on a server with another seed and another time, and checks that the data is the same.
void ExpectReplayMatches(TestServer& server);

}  // namespace respite
