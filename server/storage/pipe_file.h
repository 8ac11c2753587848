// PipeFile: the end of a pipe into which a child writes what it has made. Only Write works.
#pragma once

#include <unistd.h>

#include <cerrno>

#include "persistence/file_system.h"

namespace respite {

class PipeFile final : public File {
 public:
  // Does not own the descriptor.
  explicit PipeFile(int descriptor) : descriptor_(descriptor) {}

  IoProgress Write(Bytes data) override {
    const size_t wanted = data.size();
    while (!data.empty()) {
      const ssize_t written = write(descriptor_, data.data(), data.size());
      if (written < 0 && errno == EINTR) continue;
      if (written < 0) return {wanted - data.size(), errno};
      data.remove_prefix(static_cast<size_t>(written));
    }
    return {wanted, kNoError};
  }
  IoProgress ReadAt(uint64_t, std::span<char>) override { return {0, ESPIPE}; }
  IoError Sync() override { return kNoError; }
  void StartWriteback() override {}
  IoError Truncate(uint64_t) override { return ESPIPE; }
  Result<uint64_t, IoError> Size() const override { return Failure(IoError{ESPIPE}); }

 private:
  const int descriptor_;
};

}  // namespace respite
