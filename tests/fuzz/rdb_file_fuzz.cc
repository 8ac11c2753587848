// Any RDB file; checksums are not verified. Its keys must be valid, and the data set must survive writing and reading.
// The first byte selects the limits. The second selects the size of the pieces in which the file is read or arrives.
// Neither affects what is accepted.
#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <string>

#include "datatypes/digest.h"
#include "persistence/rdb_file_reader.h"
#include "persistence/rdb_file_writer.h"
#include "persistence/rdb_receiver.h"
#include "tests/fuzz/sound_value.h"

namespace respite {
namespace {

void Require(bool holds) {
  if (!holds) std::abort();
}

class MemoryFile final : public File {
 public:
  MemoryFile() = default;
  explicit MemoryFile(Bytes content) : content_(content) {}

  IoProgress Write(Bytes data) override {
    content_ += data;
    return {data.size(), kNoError};
  }
  IoProgress ReadAt(uint64_t offset, std::span<char> into) override {
    if (offset >= content_.size()) return {0, kNoError};
    const size_t size = std::min(into.size(), content_.size() - static_cast<size_t>(offset));
    std::memcpy(into.data(), content_.data() + offset, size);
    return {size, kNoError};
  }
  IoError Sync() override { return kNoError; }
  void StartWriteback() override {}
  IoError Truncate(uint64_t) override { return kNoError; }
  Result<uint64_t, IoError> Size() const override { return uint64_t{content_.size()}; }

 private:
  std::string content_;
};

class Sink final : public RdbSink {
 public:
  explicit Sink(const EncodingLimits& limits) : limits_(limits) {}

  void OnAux(Bytes, Bytes, uint64_t) override {}
  void OnResizeDatabase(int, uint64_t, uint64_t) override {}
  Result<Done> OnEntries(int db, std::span<RdbEntry> entries) override {
    for (RdbEntry& one : entries) {
      Require(IsSound(*one.entry, limits_));
      if (keyspace[db].Find(one.entry->Key()) != nullptr) return Failure("a key comes twice");
      keyspace[db].Add(std::move(one.entry));
    }
    return Done{};
  }
  void OnEmptyCollection(int, Bytes) override {}
  Result<Done> OnLibrary(Bytes) override { return Done{}; }
  Result<Done> OnModuleAux(Bytes) override { return Done{}; }
  Result<Done> OnProgress(uint64_t) override { return Done{}; }

  Keyspace keyspace{4, {7}};

 private:
  const EncodingLimits& limits_;
};

bool Read(File& file, const EncodingLimits& limits, size_t piece_bytes, RdbReadOptions::Checksum checksum, Sink& sink) {
  return ReadRdb(file, 0,
                 {.limits = limits, .hash_key = {7}, .databases = 4, .checksum = checksum, .piece_bytes = piece_bytes},
                 sink)
      .ok();
}

bool Receive(Bytes content, const EncodingLimits& limits, size_t piece_bytes, Sink& sink) {
  RdbReceiver receiver(
      {.limits = limits, .hash_key = {7}, .databases = 4, .checksum = RdbReadOptions::Checksum::kIgnore}, sink,
      std::nullopt);
  while (!content.empty()) {
    const Bytes piece = content.substr(0, piece_bytes);
    content.remove_prefix(piece.size());
    if (receiver.Take(piece) == RdbReceiver::Status::kFailed) return false;
  }
  return receiver.Finish() == RdbReceiver::Status::kDone;
}

void Try(Bytes content, const EncodingLimits& limits, size_t piece_bytes) {
  MemoryFile file(content);
  Sink sink(limits);
  const bool is_good = Read(file, limits, piece_bytes, RdbReadOptions::Checksum::kIgnore, sink);
  Sink whole(limits);
  Require(Read(file, limits, 1 << 16, RdbReadOptions::Checksum::kIgnore, whole) == is_good);
  Sink received(limits);
  Require(Receive(content, limits, piece_bytes, received) == is_good);
  Require(DigestOf(received.keyspace).Hex() == DigestOf(sink.keyspace).Hex());
  MemoryFile copy;
  Require(WriteRdb(copy, {sink.keyspace, {}, {}}, {}, nullptr).ok());
  Sink again(limits);
  Require(Read(copy, limits, 1 << 16, RdbReadOptions::Checksum::kVerify, again));
  Require(DigestOf(again.keyspace).Hex() == DigestOf(sink.keyspace).Hex());
}

}  // namespace
}  // namespace respite

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace respite;
  if (size < 2) return 0;
  const EncodingLimits usual;
  Try({reinterpret_cast<const char*>(data) + 2, size - 2}, data[0] % 2 == 0 ? usual : kTightLimits, 1 + data[1]);
  return 0;
}
