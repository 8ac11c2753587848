// Supplies an RdbInput with the bytes of a file from an offset on, and computes their checksum. Only for
// rdb_file_reader.cc.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "base/bytes.h"
#include "persistence/file_system.h"
#include "persistence/rdb_input.h"

namespace respite {

enum class SupplyChecksum : uint8_t { kNone, kCrc64 };

class RdbFileSupply final : public RdbSupply {
 public:
  // Reads `piece_bytes` at once, or more for longer values. `told` is called with the offset whenever a piece is used
  // up; if it returns false, the supply ends.
  RdbFileSupply(File& file, uint64_t offset, size_t piece_bytes, SupplyChecksum checksum,
                std::function<bool(uint64_t offset)> told)
      : file_(file),
        piece_bytes_(piece_bytes),
        next_(offset),
        end_(offset),
        checksums_(checksum == SupplyChecksum::kCrc64),
        told_(std::move(told)) {}

  // Must be called first: reads the size of the file.
  IoError Open();
  // The checksum of all bytes so far, without `rest`, which is the end of the last piece.
  uint64_t Checksum(Bytes rest);

  uint64_t Left() const override { return end_ - next_; }
  Bytes Next(Bytes rest, uint64_t wanted) override;
  void Forget() override;
  IoError error() const override { return error_; }

 private:
  struct Piece {
    std::unique_ptr<char[]> memory;
    size_t room = 0;
  };

  Piece TakePiece(size_t room);

  File& file_;
  const size_t piece_bytes_;
  uint64_t next_;  // offset of the first byte not read yet
  uint64_t end_;
  const bool checksums_;
  const std::function<bool(uint64_t offset)> told_;
  Piece piece_;
  Piece spare_;
  std::vector<Piece> used_;          // until Forget
  const char* unchecked_ = nullptr;  // in piece_: where the checksum continues
  uint64_t checksum_ = 0;
  IoError error_ = kNoError;
};

}  // namespace respite
