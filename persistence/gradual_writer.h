// GradualWriter: writes a large file so that its last sync is short and nobody else has to wait for gigabytes.
#pragma once

#include <cstdint>

#include "base/bytes.h"
#include "persistence/file_system.h"

namespace respite {

// How a file gets to the disk while it is written: all at the end, as the caller syncs it, or bit by bit.
enum class GradualSync : uint8_t { kAtEnd, kIncremental };

class GradualWriter {
 public:
  // Borrows the file.
  GradualWriter(File& file, GradualSync sync) : file_(file), sync_(sync) {}

  // Appends. After an error nothing is written any more.
  void Write(Bytes octets) {
    if (error_ != kNoError) return;
    error_ = file_.Write(octets).error;
    octets_ += octets.size();
    if (error_ == kNoError && sync_ == GradualSync::kIncremental) SyncNowAndThen();
  }

  IoError error() const { return error_; }
  uint64_t octets() const { return octets_; }

 private:
  static constexpr uint64_t kWriteback = uint64_t{4} * 1024 * 1024;
  static constexpr uint64_t kSync = uint64_t{32} * 1024 * 1024;

  // Writeback alone would run ahead of a slow disk.
  void SyncNowAndThen() {
    if (octets_ - synced_ >= kSync) {
      error_ = file_.Sync();
      synced_ = begun_ = octets_;
    } else if (octets_ - begun_ >= kWriteback) {
      file_.StartWriteback();
      begun_ = octets_;
    }
  }

  File& file_;
  const GradualSync sync_;
  IoError error_ = kNoError;
  uint64_t octets_ = 0;
  uint64_t begun_ = 0;   // octets for which writeback was asked
  uint64_t synced_ = 0;  // octets that were synced
};

}  // namespace respite
