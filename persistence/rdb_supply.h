// The octets of a file from an offset on, as an RdbInput asks for them, with their checksum. Not for use outside of
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
  // Reads `piece_octets` at once, and more for what is longer. `told` hears of the offset whenever a piece is used up;
  // when it says false there are no more.
  RdbFileSupply(File& file, uint64_t offset, size_t piece_octets, SupplyChecksum checksum,
                std::function<bool(uint64_t offset)> told)
      : file_(file),
        piece_octets_(piece_octets),
        next_(offset),
        end_(offset),
        checksums_(checksum == SupplyChecksum::kCrc64),
        told_(std::move(told)) {}

  // To be called first: asks for the size of the file.
  IoError Open();
  // Why there are no more octets than there were.
  IoError error() const { return error_; }
  // Of all octets so far, without `rest`, which is the end of the last piece.
  uint64_t Checksum(Bytes rest);

  uint64_t Left() const override { return end_ - next_; }
  Bytes Next(Bytes rest, uint64_t wanted) override;
  void Forget() override;

 private:
  struct Piece {
    std::unique_ptr<char[]> memory;
    size_t room = 0;
  };

  Piece TakePiece(size_t room);

  File& file_;
  const size_t piece_octets_;
  uint64_t next_;  // offset of what was not read yet
  uint64_t end_;
  const bool checksums_;
  const std::function<bool(uint64_t offset)> told_;
  Piece piece_;
  Piece spare_;
  std::vector<Piece> used_;          // up to Forget
  const char* unchecked_ = nullptr;  // in piece_: what the checksum has not seen
  uint64_t checksum_ = 0;
  IoError error_ = kNoError;
};

}  // namespace respite
