// Loading: the state of a server that loads its data. Clients are served meanwhile, but get LOADING for commands that
// need the data, unless the old data is still there (ServerPhase::Load).
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "base/bytes.h"
#include "base/late_bound.h"
#include "server/dataset/history.h"
#include "server/runtime/env.h"
#include "server/runtime/server_phase.h"

namespace respite {

class Pace;
class Executor;
class MemoryGauge;
struct Session;

class Loading {
 public:
  struct Parts {
    const Env& env;
    MemoryGauge& memory;
    Executor& executor;
  };
  explicit Loading(const Parts& parts) : parts_(parts) {}

  // Begins a loading. `holder` (may be null) is the client that runs the loading command. The server reads no input of
  // this client until End.
  void Begin(uint64_t total_bytes, ServerPhase::Load how = ServerPhase::Load::kInTurn, const Session* holder = nullptr);
  void End();
  bool Active() const;
  // Returns whether clients are served the old data meanwhile.
  bool IsAsync() const;

  enum class Order : uint8_t { kContinue, kStop };
  // Reports the bytes loaded so far. Must be called every loading-process-events-interval-bytes. If the whole load
  // happens in one turn, this serves clients, and a client or a signal may stop the server. Logs the progress every few
  // seconds.
  Order Advance(uint64_t loaded_bytes);
  // Sets a handler that each Advance calls.
  void OnAdvance(std::function<void()> handler) { advances_ = std::move(handler); }
  // Delays as key-load-delay says. Must be called after each key or command.
  void SlowDown();

  // Sets the memory usage stored in the file (INFO loading_rdb_used_mem).
  void SetMemoryThen(uint64_t bytes) { memory_then_bytes_ = bytes; }
  // The history that the file names (repl-id, repl-offset, repl-stream-db), if any.
  struct FileHistory {
    std::string id;
    int64_t offset = -1;
    int stream_db = 0;
    bool IsWhole() const { return id.size() == History::kIdLength && offset >= 0 && offset <= History::kLongest; }
  };
  FileHistory& file_history() { return file_history_; }
  // Records an expired key that was not loaded. If the file has a history, its replicas still have the key, so they
  // must be told.
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
  // Returns the progress of the loading, for INFO. Requires: Active().
  Figures Survey() const;
  // Counts of the current loading, or otherwise of the last one.
  uint64_t KeysLoaded() const { return keys_loaded_; }
  uint64_t KeysExpired() const { return keys_expired_; }

 private:
  void LogProgress();

  const Parts parts_;
  int64_t start_s_ = 0;
  int64_t start_ms_ = 0;     // in Pace time
  int64_t next_log_ms_ = 0;  // in Pace time
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
