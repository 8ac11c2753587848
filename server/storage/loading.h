// Loading: the state of a server that reads its data set. Clients are served besides, but get LOADING for all that
// needs the data; timers stand still.
#pragma once

#include <cstdint>

namespace respite {

class Clock;
class Pace;
class Phase;
class Executor;
class HostPort;
class MemoryGauge;
struct Settings;
struct Session;

class Loading {
 public:
  struct Parts {
    const Settings& settings;
    const Clock& clock;
    const Pace& pace;
    const HostPort& host;
    MemoryGauge& memory;
    Phase& phase;
    Executor& executor;
  };
  explicit Loading(const Parts& parts) : parts_(parts) {}

  // `holder` (may be null) is the client whose command loads: nothing of it is read until End.
  void Begin(uint64_t total_bytes, const Session* holder = nullptr);
  void End();
  bool Active() const;

  enum class Order : uint8_t { kGoOn, kStop };
  // So many octets of all are read. To be called every loading-process-events-interval-bytes: clients are served, and
  // one of them or a signal may have ended the server.
  Order Advance(uint64_t loaded_bytes);
  // A key was loaded, or a command of the append-only file: waits as key-load-delay says.
  void SlowDown();

  // What the file says of the memory that it took (INFO loading_rdb_used_mem).
  void SetMemoryThen(uint64_t bytes) { memory_then_bytes_ = bytes; }
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
  // Of the loading that is under way, or else the last.
  uint64_t KeysLoaded() const { return keys_loaded_; }
  uint64_t KeysExpired() const { return keys_expired_; }

 private:
  const Parts parts_;
  int64_t start_s_ = 0;
  int64_t start_ms_ = 0;  // of the Pace
  uint64_t total_bytes_ = 0;
  uint64_t loaded_bytes_ = 0;
  uint64_t memory_then_bytes_ = 0;
  uint64_t keys_loaded_ = 0;
  uint64_t keys_expired_ = 0;
  unsigned delays_ = 0;
};

}  // namespace respite
