// FsyncGuarantee: how much of an append-only file each policy of `appendfsync` promises to have on the disk when the
// machine stops: under `always` all of it, under `everysec` what is older than a second, and under `no` what is older
// than the 30 seconds after which Linux writes by itself. For TEST CRASH, which makes a server lose the rest.
#pragma once

#include <cstdint>
#include <deque>

#include "server/config/settings.h"

namespace respite {

class FsyncGuarantee {
 public:
  static constexpr int64_t kEverySecondMs = 1000;
  static constexpr int64_t kSystemMs = 30'000;

  // Something is written behind the first `bytes` of the file. Times are monotonic ones of the server's clock. Cost:
  // O(1), and 16 bytes for each millisecond of the last 30 seconds with a write.
  void NoteWrite(int64_t now_ms, uint64_t bytes);
  // The file is another one, and what is in it is on the disk.
  void Begin() { writes_.clear(); }
  // Of a file that has `bytes`.
  uint64_t Kept(AppendFsync policy, int64_t now_ms, uint64_t bytes) const;

 private:
  struct Write {
    int64_t at_ms;
    uint64_t behind;
  };
  std::deque<Write> writes_;
};

}  // namespace respite
