// PipeFile: the write end of the pipe for a child's output. Only Write works.
#pragma once

#include <cerrno>

#include "persistence/file_system.h"
#include "persistence/write_all.h"

namespace respite {

class PipeFile final : public File {
 public:
  // Does not own the descriptor.
  explicit PipeFile(int descriptor) : descriptor_(descriptor) {}

  IoProgress Write(Bytes data) override { return WriteAll(descriptor_, data); }
  IoProgress ReadAt(uint64_t, std::span<char>) override { return {0, ESPIPE}; }
  IoError Sync() override { return kNoError; }
  void StartWriteback() override {}
  IoError Truncate(uint64_t) override { return ESPIPE; }
  Result<uint64_t, IoError> Size() const override { return Failure(IoError{ESPIPE}); }

 private:
  const int descriptor_;
};

}  // namespace respite
