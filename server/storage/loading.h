// Loading: the state of a server that loads its data. Meanwhile clients are served, but commands that need the data get
// the error -LOADING. If a replica still has its old data (ServerPhase::Load::kAsync), commands use that instead.
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

class RealClock;
class Executor;
class MemoryGauge;
struct Session;

class Loading {  // how far loading of the data is; serves clients meanwhile
 public:
  struct Parts {  // the arguments of the constructor
    const Env& env;
    MemoryGauge& memory;  // measures memory, and its peak
    Executor& executor;   // runs commands; suspended while other clients are served
  };
  explicit Loading(const Parts& parts) : parts_(parts) {}

  // Must be called when loading begins. `total_bytes` is the size of the files (0: unknown). `holder` (may be null) is
  // the client whose command loads the data. The server reads no input of this client until End.
  void Begin(uint64_t total_bytes,  // loading begins; `total_bytes`: size of the files; 0: unknown
             ServerPhase::Load how = ServerPhase::Load::kInTurn, const Session* holder = nullptr);
  void End();             // notes that loading has ended, or failed
  bool IsActive() const;  // true: data is being loaded now
  bool IsAsync() const;   // true: data is being loaded, and clients still see the old data

  enum class Order : uint8_t { kContinue, kStop };  // kStop: the server must stop
  // Reports the number of bytes loaded so far. Must be called after every loading-process-events-interval-bytes. If the
  // whole load happens in one event loop Turn, serves clients. Returns kStop if a client or a signal has stopped the
  // server meanwhile. Logs the progress every few seconds.
  Order Advance(uint64_t loaded_bytes);                    // reports progress, serves clients; kStop: end loading
  void SetAdvanceHandler(std::function<void()> handler) {  // each report of progress (Advance) calls `handler`
    on_advance_ = std::move(handler);
  }
  void SlowDown();  // for tests: sleeps as key-load-delay says

  void SetRdbUsedMemory(uint64_t bytes) {  // loading_rdb_used_mem: memory that the file's writer used
    rdb_used_mem_bytes_ = bytes;
  }
  uint64_t TotalBytes() const { return total_bytes_; }  // size of the files that were loaded last; 0: unknown
  struct FileHistory {                                  // the replication ID and offset in the loaded files
    std::string id;                                     // replication ID; empty: none
    int64_t offset = -1;                                // replication offset; -1: none
    uint64_t record_bytes = 0;                          // bytes of commands in the append-only files
    int stream_db = 0;                                  // database that the replication stream has selected at `offset`
    std::string primary;                                // the primary whose history it is, "host:port"; or empty
    bool has_local_writes = false;                      // the data has changes that are not in the history
    bool IsWhole() const {                              // true: ID and offset are valid
      return id.size() == History::kIdLength && offset >= 0 && offset <= History::kMaxOffset / 2;
    }
  };
  FileHistory& file_history() { return file_history_; }  // ID and offset read from the file so far
  // Remembers an expired key that was not loaded. A primary propagates its deletion after loading, because replicas may
  // still have this key. Does nothing unless the file names its replication history, because only then can a replica
  // continue from this data.
  void NoteSkippedExpiredKey(int db, Bytes key) {  // remembers an expired key that was dropped
    if (file_history_.IsWhole()) skipped_expired_keys_.emplace_back(db, key);
  }
  std::vector<std::pair<int, std::string>> TakeSkippedExpiredKeys() {  // returns the noted keys; forgets them
    return std::exchange(skipped_expired_keys_, {});
  }
  void CountKeys(uint64_t loaded, uint64_t expired) {  // adds to KeysLoaded and KeysExpired
    keys_loaded_ += loaded;
    keys_expired_ += expired;
  }

  struct Figures {                // how far loading is, for INFO
    int64_t start_s;              // Unix time when loading began
    uint64_t total_bytes;         // size of the files to load; 0: unknown
    uint64_t rdb_used_mem_bytes;  // memory that the writer of the file used
    uint64_t loaded_bytes;        // number of bytes that were loaded so far
    double loaded_percent;        // loaded_bytes as a percentage of total_bytes; 0: unknown
    int64_t eta_s;                // in how many seconds loading will probably end; 1 in the first second
  };
  Figures CurrentFigures() const;                         // how far loading is, for INFO. Requires: IsActive()
  uint64_t KeysLoaded() const { return keys_loaded_; }    // number of keys from RDB files
  uint64_t KeysExpired() const { return keys_expired_; }  // keys that were dropped because they had expired

 private:
  void LogProgress();  // logs how far loading is, once in a few seconds

  const Parts parts_;                         // the arguments of the constructor
  int64_t start_s_ = 0;                       // Unix time when loading began
  int64_t start_ms_ = 0;                      // when loading began (real time)
  int64_t next_log_ms_ = 0;                   // when progress may be logged again (real time)
  uint64_t total_bytes_ = 0;                  // size of the files to load; 0: unknown
  uint64_t loaded_bytes_ = 0;                 // number of bytes that were loaded so far
  uint64_t rdb_used_mem_bytes_ = 0;           // memory that the writer of the file used
  uint64_t keys_loaded_ = 0;                  // number of keys from RDB files, in this or the last loading
  uint64_t keys_expired_ = 0;                 // number of keys that were dropped, as they had expired
  unsigned delays_ = 0;                       // counts calls of SlowDown while key-load-delay is negative
  FileHistory file_history_;                  // the replication ID and offset in the loaded files
  std::function<void()> on_advance_ = [] {};  // called when progress is reported; keeps the link to a primary alive
  std::vector<std::pair<int, std::string>> skipped_expired_keys_;  // database and name of expired keys not loaded
};

}  // namespace respite
