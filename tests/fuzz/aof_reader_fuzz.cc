// Any bytes as an append-only file, read in chunks whose size the first byte selects: the records must be the same as
// with one chunk, and the file must be valid after a truncation at the end of the last record.
#include <cstdint>
#include <cstdlib>
#include <string>
#include <vector>

#include "persistence/aof_reader.h"
#include "tests/persistence/memory_file.h"

namespace respite {
namespace {

using Status = AofReader::Status;

void Expect(bool holds) {
  if (!holds) std::abort();
}

struct Reading {
  Status status;
  std::vector<std::vector<std::string>> records;
  std::vector<uint64_t> begins;
  uint64_t end;

  bool operator==(const Reading&) const = default;
};

Reading ReadAll(MemoryFile& file, size_t chunk) {
  AofReader reader(file, 0, chunk);
  RequestBatch batch;
  Reading reading{};
  while ((reading.status = reader.Next(batch)) == Status::kRecords) {
    Expect(!batch.requests.empty() && batch.requests.size() <= AofReader::kMaxRecordsPerCall);
    for (const RequestBatch::Request& request : batch.requests) {
      const auto words = batch.Words(request);
      Expect(!words.empty());
      Expect(reading.begins.empty() || reading.begins.back() < request.offset);
      reading.records.emplace_back(words.begin(), words.end());
      reading.begins.push_back(request.offset);
    }
  }
  reading.end = reader.Offset();
  Expect(reading.end <= file.content.size());
  return reading;
}

}  // namespace
}  // namespace respite

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using respite::Expect;
  using respite::ReadAll;
  if (size == 0) return 0;
  respite::MemoryFile file({reinterpret_cast<const char*>(data) + 1, size - 1});
  respite::Reading whole = ReadAll(file, size + 64);
  Expect(ReadAll(file, size_t{1} + data[0]) == whole);
  file.content.resize(whole.end);
  whole.status = respite::Status::kEnd;
  Expect(ReadAll(file, respite::AofReader::kChunkBytes) == whole);
  return 0;
}
