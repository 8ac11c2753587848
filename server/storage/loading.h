// Loading: the state of a server that loads its data. Meanwhile clients are served, but get -LOADING for commands that
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

class Loading {  // whether and how far the server is loading its data; serves clients meanwhile
 public:
  struct Parts {  // other parts of the server that this class uses
    const Env& env;
    MemoryGauge& memory;  // learns the peak of used memory
    Executor& executor;   // is suspended while other clients are served
  };
  explicit Loading(const Parts& parts) : parts_(parts) {}

  // Must be called when loading begins. `total_bytes` is the size of the files (0: unknown). `holder` (may be null) is
  // the client whose command loads the data. The server reads no input of this client until End.
  void Begin(uint64_t total_bytes, ServerPhase::Load how = ServerPhase::Load::kInTurn, const Session* holder = nullptr);
  void End();             // the loading has ended, or failed
  bool IsActive() const;  // true: the server is loading data now
  bool IsAsync() const;   // true: the server is loading data, and clients still see the old data

  enum class Order : uint8_t { kContinue, kStop };
  // Reports the number of bytes loaded so far. Must be called after every loading-process-events-interval-bytes. If the
  // whole load happens in one Turn, this serves clients, and returns kStop if a client or a signal has stopped the
  // server. Logs the progress every few seconds.
  Order Advance(uint64_t loaded_bytes);                    // reports progress; may serve clients; kStop: stop loading
  void SetAdvanceHandler(std::function<void()> handler) {  // sets what each Advance calls
    on_advance_ = std::move(handler);
  }
  void SlowDown();  // sleeps as key-load-delay says, after each key or command (for tests)

  void SetRdbUsedMemory(uint64_t bytes) {  // INFO loading_rdb_used_mem: used memory when the file was written
    rdb_used_mem_bytes_ = bytes;
  }
  struct FileHistory {      // the replication ID and offset that the loaded file contains, if any
    std::string id;         // empty: none
    int64_t offset = -1;    // position in the replication stream; -1: none
    int stream_db = 0;      // database that the stream has selected at `offset`
    bool IsWhole() const {  // id and offset are valid
      return id.size() == History::kIdLength && offset >= 0 && offset <= History::kMaxOffset;
    }
  };
  FileHistory& file_history() { return file_history_; }  // from the file that is loaded
  // Remembers an expired key that was not loaded. Replicas that have the replication history of the file still have
  // this key.
  void NoteSkippedExpiredKey(int db, Bytes key) {  // remembers a dropped key that replicas may have
    if (file_history_.IsWhole()) skipped_expired_keys_.emplace_back(db, key);
  }
  std::vector<std::pair<int, std::string>> TakeSkippedExpiredKeys() {  // returns and forgets these keys
    return std::exchange(skipped_expired_keys_, {});
  }
  void CountKeys(uint64_t loaded, uint64_t expired) {  // adds to KeysLoaded and KeysExpired
    keys_loaded_ += loaded;
    keys_expired_ += expired;
  }

  struct Figures {                // progress of the loading, for INFO
    int64_t start_s;              // Unix time when loading began
    uint64_t total_bytes;         // size of the files to load; 0: unknown
    uint64_t rdb_used_mem_bytes;  // used memory of the server that wrote the file, at that time
    uint64_t loaded_bytes;        // number of bytes loaded so far
    double loaded_percent;        // loaded_bytes as a percentage of total_bytes; 0 if that is unknown
    int64_t eta_s;                // estimated seconds until the end
  };
  // Returns the progress of the loading, for INFO. Requires: IsActive().
  Figures CurrentFigures() const;                         // progress for INFO; requires that data is being loaded
  uint64_t KeysLoaded() const { return keys_loaded_; }    // keys from RDBs, in the current or last loading
  uint64_t KeysExpired() const { return keys_expired_; }  // keys of RDBs that were dropped because they had expired

 private:
  void LogProgress();  // logs the progress at most once every few seconds

  const Parts parts_;                         // other parts of the server that this class uses
  int64_t start_s_ = 0;                       // Unix time when loading began
  int64_t start_ms_ = 0;                      // real elapsed time when loading began
  int64_t next_log_ms_ = 0;                   // real elapsed time from which progress may be logged again
  uint64_t total_bytes_ = 0;                  // size of the files to load; 0: unknown
  uint64_t loaded_bytes_ = 0;                 // number of bytes loaded so far
  uint64_t rdb_used_mem_bytes_ = 0;           // used memory of the server that wrote the file, at that time
  uint64_t keys_loaded_ = 0;                  // keys from RDBs, in the current or last loading
  uint64_t keys_expired_ = 0;                 // keys of RDBs that were dropped because they had expired
  unsigned delays_ = 0;                       // number of calls of SlowDown with a negative key-load-delay
  FileHistory file_history_;                  // the replication ID and offset that the file contains
  std::function<void()> on_advance_ = [] {};  // called by each Advance
  std::vector<std::pair<int, std::string>> skipped_expired_keys_;  // database and name of expired keys not loaded
};

}  // namespace respite
