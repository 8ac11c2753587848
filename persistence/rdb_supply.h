// Supplies an RdbInput with the bytes of a file, and computes their checksum. Only for rdb_file_reader.cc.
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

class RdbFileSupply final : public RdbSupply {  // reads a file for an RdbInput, and computes the checksum
 public:
  // Next keeps the unread bytes and reads more, until it has `piece_bytes` bytes, but at least half of `piece_bytes`
  // new ones, and more for a longer value. Before each read, Next calls `on_progress` with the offset in the file of
  // the first unread byte. If `on_progress` returns false, Next fails.
  RdbFileSupply(File& file, uint64_t offset, size_t piece_bytes, SupplyChecksum checksum,
                std::function<bool(uint64_t offset)> on_progress)
      : file_(file),
        piece_bytes_(piece_bytes),
        next_(offset),
        end_(offset),
        computes_checksum_(checksum == SupplyChecksum::kCrc64),
        on_progress_(std::move(on_progress)) {}

  IoError Open();                 // reads the size of the file; must be called first
  uint64_t Checksum(Bytes rest);  // CRC-64 of the bytes from the start up to `rest`, which is unread

  uint64_t Left() const override { return end_ - next_; }  // bytes that Next has not returned yet
  Bytes Next(Bytes rest, uint64_t wanted) override;        // `rest` and more from the file; empty: failed
  void FreeOldPieces() override;                           // frees all pieces that Next has returned, except the last
  IoError error() const override { return error_; }        // why the last read failed; kNoError: success

 private:
  struct Piece {                     // a buffer with bytes that were read from the file
    std::unique_ptr<char[]> memory;  // the allocated memory of the buffer
    size_t room = 0;                 // capacity of the buffer in bytes
  };

  Piece TakePiece(size_t capacity);  // returns the unused buffer spare_ if it is large enough, otherwise a new one

  File& file_;                    // the file to read
  const size_t piece_bytes_;      // usual size of a piece in bytes; pieces for long values are larger
  uint64_t next_;                 // offset of the first unread byte
  uint64_t end_;                  // size of the file
  const bool computes_checksum_;  // false: checksum_ stays 0
  const std::function<bool(uint64_t offset)> on_progress_;  // called before each read; false: Next fails
  Piece piece_;                                             // the last piece, which the input is reading
  Piece spare_;                                             // a buffer for the next piece
  std::vector<Piece> used_pieces_;   // earlier pieces, which texts may refer to, until FreeOldPieces
  const char* unchecked_ = nullptr;  // where in piece_ the bytes begin that are not in checksum_ yet
  uint64_t checksum_ = 0;            // CRC-64 of the bytes before unchecked_
  IoError error_ = kNoError;         // why the last read of the file failed; kNoError: no read failed
};

}  // namespace respite
