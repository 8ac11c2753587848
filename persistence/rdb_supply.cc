#include "persistence/rdb_supply.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "base/crc64.h"

namespace respite {

IoError RdbFileSupply::Open() {
  const auto size = file_.Size();
  if (!size) return size.error();
  end_ = std::max(size.value(), next_);
  return kNoError;
}

uint64_t RdbFileSupply::Checksum(Bytes rest) {
  if (computes_checksum_ && unchecked_ != nullptr && rest.data() != nullptr) {
    checksum_ = Crc64(checksum_, {unchecked_, static_cast<size_t>(rest.data() - unchecked_)});
    unchecked_ = rest.data();
  }
  return checksum_;
}

RdbFileSupply::Piece RdbFileSupply::TakePiece(size_t capacity) {
  if (spare_.room >= capacity) return std::exchange(spare_, Piece());
  return {std::make_unique_for_overwrite<char[]>(capacity), capacity};
}

Bytes RdbFileSupply::Next(Bytes rest, uint64_t wanted) {
  if (!on_progress_(next_ - rest.size())) return {};
  Checksum(rest);
  // The new piece (buffer) begins with a copy of `rest`, the unread bytes, and has room for at least half a piece of
  // new bytes. A long value is requested in one step: `wanted` is its size, `rest` included. So each byte of the value
  // is copied at most once.
  const size_t room = std::max<uint64_t>(wanted, std::max(piece_bytes_, rest.size() + piece_bytes_ / 2));
  Piece piece = TakePiece(room);
  if (!rest.empty()) std::memcpy(piece.memory.get(), rest.data(), rest.size());
  const size_t more = std::min<uint64_t>(room - rest.size(), Left());
  const IoProgress read = file_.ReadAt(next_, {piece.memory.get() + rest.size(), more});
  error_ = read.error;
  if (read.error != kNoError) return {};
  if (read.bytes < more) end_ = next_ + read.bytes;  // the file was truncated meanwhile
  next_ += read.bytes;
  if (piece_.memory != nullptr) used_pieces_.push_back(std::move(piece_));
  piece_ = std::move(piece);
  unchecked_ = piece_.memory.get();
  return {piece_.memory.get(), rest.size() + read.bytes};
}

void RdbFileSupply::FreeOldPieces() {
  for (Piece& piece : used_pieces_)
    if (piece.room == piece_bytes_) spare_ = std::move(piece);
  used_pieces_.clear();
}

}  // namespace respite
