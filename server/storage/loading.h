// Loading: the state of a server that loads its data set. Clients are served meanwhile, but get LOADING for commands
// that need the data, unless the old data is still there (ServerPhase::Load).
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "base/bytes.h"
#include "base/late_bound.h"
#include "server/clients/server_phase.h"
#include "server/dataset/history.h"

namespace respite {

class Clock;
class Pace;
class Executor;
class Host;
class Logger;
class MemoryGauge;
struct Settings;
struct Session;

class Loading {
 public:
  struct Parts {
    const Settings& settings;
    const Clock& clock;
    const Pace& pace;
    Logger& log;
    const LateBound<Host>& host;
    MemoryGauge& memory;
    ServerPhase& phase;
    Executor& executor;
  };
  explicit Loading(const Parts& parts) : parts_(parts) {}

  // `holder` (may be null) is the client whose command loads; the server reads nothing from it until End.
  void Begin(uint64_t total_bytes, ServerPhase::Load how = ServerPhase::Load::kInTurn, const Session* holder = nullptr);
  void End();
  bool Active() const;
  // Clients have the old data meanwhile.
  bool IsAsync() const;

  enum class Order : uint8_t { kContinue, kStop };
  // Reports the bytes loaded so far. To be called every loading-process-events-interval-bytes: if it all happens in one
  // Turn this serves clients, and a client or a signal may stop the server. Logs the progress every few seconds.
  Order Advance(uint64_t loaded_bytes);
  // Has `handler` run in each Advance.
  void OnAdvance(std::function<void()> handler) { advances_ = std::move(handler); }
  // To be called after each key or command; delays as key-load-delay says.
  void SlowDown();

  // The memory usage stored in the file (INFO loading_rdb_used_mem).
  void SetMemoryThen(uint64_t bytes) { memory_then_bytes_ = bytes; }
  // The history that the file names (repl-id, repl-offset, repl-stream-db), if it does.
  struct FileHistory {
    std::string id;
    int64_t offset = -1;
    int stream_db = 0;
    bool IsWhole() const { return id.size() == History::kIdLength && offset >= 0 && offset <= History::kLongest; }
  };
  FileHistory& file_history() { return file_history_; }
  // A key of a file with a history was left out, since its time had come: replicas, who have it, are to be told.
  void NoteLeftOut(int db, Bytes key) {
    if (file_history_.IsWhole()) left_out_.emplace_back(db, key);
  }
  std::vector<std::pair<int, std::string>> TakeLeftOut() { return std::exchange(left_out_, {}); }
  void CountKeys(uint64_t loaded, uint64_t expired) {
    keys_loaded_ += loaded;
    keys_expired_ += expired;
  }

  struct Figures {
    int64_t start_s;  // UNIX time
    uint64_t total_bytes;
    uint64_t memory_then_bytes;
    uint64_t loaded_bytes;
    double loaded_percent;
    int64_t eta_s;
  };
  // Requires: Active().
  Figures Survey() const;
  // Of the current loading, or else of the last one.
  uint64_t KeysLoaded() const { return keys_loaded_; }
  uint64_t KeysExpired() const { return keys_expired_; }

 private:
  void LogProgress();

  const Parts parts_;
  int64_t start_s_ = 0;
  int64_t start_ms_ = 0;     // on the Pace's clock
  int64_t next_log_ms_ = 0;  // on the Pace's clock
  uint64_t total_bytes_ = 0;
  uint64_t loaded_bytes_ = 0;
  uint64_t memory_then_bytes_ = 0;
  uint64_t keys_loaded_ = 0;
  uint64_t keys_expired_ = 0;
  unsigned delays_ = 0;
  FileHistory file_history_;
  std::function<void()> advances_ = [] {};
  std::vector<std::pair<int, std::string>> left_out_;
};

}  // namespace respite
