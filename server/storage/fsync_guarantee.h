// FsyncGuarantee: computes how much of an append-only file is certainly on the disk after a machine crash. `always`
// guarantees the whole file, and `everysec` all data older than a second. `no` guarantees data older than 30 seconds,
// because Linux writes it by then. TEST CRASH makes a server lose the rest of the file.
#pragma once

#include <cstdint>
#include <deque>

#include "server/config/settings.h"

namespace respite {

class FsyncGuarantee {  // TEST CRASH: how much of an append-only file survives a machine crash
 public:
  static constexpr int64_t kEverySecondMs = 1000;  // `everysec` has synced data of this age, in ms
  static constexpr int64_t kSystemMs = 30'000;     // Linux has written data of this age without a sync, in ms

  // Must be called before each write, when the file has `bytes` bytes. Times are clock times. Cost: O(1), and 16 bytes
  // of memory for each millisecond of the last 30 seconds with a write.
  void NoteWrite(int64_t now_ms, uint64_t bytes);  // called before a write to a file of `bytes` bytes
  void BeginFile() { recent_writes_.clear(); }  // called when a new file begins: all its content counts as on the disk
  // Returns how many bytes of a file of `bytes` bytes are certainly on the disk after a machine crash at `now_ms`.
  uint64_t DurableBytes(AppendFsync policy, int64_t now_ms, uint64_t bytes) const;  // how much of the file survives

 private:
  struct Write {            // a write in the last 30 seconds
    int64_t at_ms;          // clock time of the write
    uint64_t bytes_before;  // size of the file before the write
  };
  std::deque<Write> recent_writes_;  // writes of 30 seconds, which a machine crash may lose; oldest first
};

}  // namespace respite
