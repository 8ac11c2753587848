// FsyncGuarantee: computes how much of an append-only file is certainly on the disk after a machine crash. `always`
// guarantees the whole file, and `everysec` all data older than a second. `no` guarantees data older than 30 seconds,
// after which Linux writes it. TEST CRASH uses this to make a server lose the rest.
#pragma once

#include <cstdint>
#include <deque>

#include "server/config/settings.h"

namespace respite {

class FsyncGuarantee {  // computes what a machine crash would leave of the append-only file (TEST)
 public:
  static constexpr int64_t kEverySecondMs = 1000;  // age of data that everysec guarantees
  static constexpr int64_t kSystemMs = 30'000;     // age of data that Linux has written by itself

  // Records a write after the first `bytes` bytes of the file. Times are monotonic times of the server's clock. Cost:
  // O(1), and 16 bytes for each millisecond of the last 30 seconds with a write.
  void NoteWrite(int64_t now_ms, uint64_t bytes);  // a write begins after the first `bytes` bytes
  void Begin() { writes_.clear(); }                // begins with a new file, whose content is on the disk
  // Returns how many bytes of a file of `bytes` bytes are certainly on the disk after a machine crash at `now_ms`.
  uint64_t Kept(AppendFsync policy, int64_t now_ms, uint64_t bytes) const;  // how many bytes

 private:
  struct Write {            // a write in the last 30 seconds
    int64_t at_ms;          // time on the server's monotonic clock
    uint64_t bytes_before;  // size of the file before the write
  };
  std::deque<Write> writes_;  // writes of the last 30 seconds, oldest first
};

}  // namespace respite
