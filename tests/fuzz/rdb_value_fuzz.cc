// Any value of an RDB file or DUMP payload. An accepted value must be valid: its invariants hold, and it survives
// writing and reading. The first byte selects the limits, the second is the type.
#include <cstdint>
#include <cstdlib>
#include <string>

#include "datatypes/digest.h"
#include "persistence/rdb_value_reader.h"
#include "persistence/rdb_value_writer.h"
#include "tests/fuzz/sound_value.h"

namespace respite {
namespace {

void Require(bool holds) {
  if (!holds) std::abort();
}

EncodingLimits LimitsFor(uint8_t choice) { return choice % 2 == 0 ? EncodingLimits{} : kTightLimits; }

std::string DigestText(const Entry& entry) {
  Digest digest;
  MixValue(digest, entry);
  return digest.Hex();
}

EntryPtr Read(Bytes value, const EncodingLimits& limits) {
  RdbInput input(value);
  const uint8_t type = input.Byte();
  auto entry = ReadRdbValue(input, type, {"key", 0, limits, HashKey{7}});
  if (!entry) return nullptr;
  Require(!input.Failed() && entry.value() != nullptr);
  return std::move(entry).value();
}

void Try(Bytes value, const EncodingLimits& limits) {
  const EntryPtr entry = Read(value, limits);
  if (entry == nullptr) return;
  Require(IsSound(*entry, limits));
  RdbOutput out(RdbCompression::kOn);
  WriteRdbValue(out, *entry);
  const EntryPtr again = Read(out.BufferedOutput(), limits);
  Require(again != nullptr && DigestText(*again) == DigestText(*entry));
  // A digest does not cover a stream's groups and metadata, and an array's cursor. Elements of other types may be
  // written in another order.
  if (entry->Type() != ValueType::kStream && entry->Type() != ValueType::kArray) return;
  RdbOutput second(RdbCompression::kOn);
  WriteRdbValue(second, *again);
  Require(second.BufferedOutput() == out.BufferedOutput());
}

}  // namespace
}  // namespace respite

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace respite;
  if (size < 2) return 0;
  Try({reinterpret_cast<const char*>(data) + 1, size - 1}, LimitsFor(data[0]));
  return 0;
}
