// A file in memory that fails on demand.
#pragma once

#include <algorithm>
#include <cerrno>
#include <limits>
#include <string>

#include "persistence/file_system.h"

namespace respite {

class MemoryFile final : public File {
 public:
  explicit MemoryFile(std::string text = "") : content(std::move(text)) {}

  IoProgress Write(Bytes data) override {
    const size_t room = content.size() < room_bytes ? room_bytes - content.size() : 0;
    content += data.substr(0, room);
    return {std::min(room, data.size()), data.size() > room ? ENOSPC : kNoError};
  }
  IoProgress ReadAt(uint64_t offset, std::span<char> into) override {
    const uint64_t end = std::min<uint64_t>({content.size(), offset + into.size(), fails_at});
    if (offset < end) std::copy(&content[offset], &content[0] + end, into.begin());
    const IoError error = offset + into.size() > fails_at ? EIO : kNoError;
    return {offset < end ? end - offset : 0, error};
  }
  IoError Sync() override {
    ++syncs;
    return sync_error;
  }
  void StartWriteback() override {}
  IoError Truncate(uint64_t bytes) override {
    content.resize(bytes);
    return kNoError;
  }
  Result<uint64_t, IoError> Size() const override { return static_cast<uint64_t>(content.size()); }

  std::string content;
  uint64_t fails_at = std::numeric_limits<uint64_t>::max();  // reads beyond this offset fail
  size_t room_bytes = std::numeric_limits<size_t>::max();    // writes beyond this size fail
  IoError sync_error = kNoError;
  int syncs = 0;
};

}  // namespace respite
