// GradualWriter: writes a large file in steps, so that the last sync is short. Otherwise one sync of gigabytes would
// delay other writers to the disk.
#pragma once

#include <cstdint>

#include "base/bytes.h"
#include "persistence/file_system.h"

namespace respite {

// Determines when a file is synced to disk: by the caller at the end (kAtEnd), or in steps during the writing
// (kIncremental).
enum class GradualSync : uint8_t { kAtEnd, kIncremental };

class GradualWriter {  // appends to a large file; with kIncremental also syncs after every 32 MB
 public:
  // Borrows the file, which must outlive this object.
  GradualWriter(File& file, GradualSync sync) : file_(file), sync_(sync) {}

  void Write(Bytes bytes) {  // appends the bytes, unless an error has occurred before
    if (error_ != kNoError) return;
    error_ = file_.Write(bytes).error;
    bytes_ += bytes.size();
    if (error_ == kNoError && sync_ == GradualSync::kIncremental) SyncIfDue();
  }

  IoError error() const { return error_; }   // the first error of the file; kNoError: none
  uint64_t bytes() const { return bytes_; }  // number of bytes given to Write; requires: no error

 private:
  static constexpr uint64_t kBytesPerWriteback = uint64_t{4} * 1024 * 1024;  // bytes between two starts of writeback
  static constexpr uint64_t kBytesPerSync = uint64_t{32} * 1024 * 1024;      // bytes between two syncs

  // Without the syncs, the file could grow faster than a slow disk writes.
  void SyncIfDue() {  // after 32 MB waits for a sync; after 4 MB starts writing to the disk
    if (bytes_ - synced_bytes_ >= kBytesPerSync) {
      error_ = file_.Sync();
      synced_bytes_ = writeback_begun_bytes_ = bytes_;
    } else if (bytes_ - writeback_begun_bytes_ >= kBytesPerWriteback) {
      file_.StartWriteback();
      writeback_begun_bytes_ = bytes_;
    }
  }

  File& file_;                          // the file to append to
  const GradualSync sync_;              // kAtEnd: does not sync, so the caller must
  IoError error_ = kNoError;            // the first error; nothing is written after an error
  uint64_t bytes_ = 0;                  // number of bytes given to Write, up to the first error
  uint64_t writeback_begun_bytes_ = 0;  // offset up to which StartWriteback was called
  uint64_t synced_bytes_ = 0;           // offset up to which the file was synced
};

}  // namespace respite
