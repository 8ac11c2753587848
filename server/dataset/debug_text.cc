#include "server/dataset/debug_text.h"

#include <limits>

#include "base/number_text.h"
#include "base/str_cat.h"
#include "server/dataset/key_usage.h"
#include "server/dataset/value_names.h"

namespace respite {

namespace {

constexpr size_t kIntegerDigitsMax = 11;  // texts up to this length may be stored as integers

size_t LengthBytes(size_t length) {
  if (length < 64) return 1;
  if (length < 16384) return 2;
  return length <= std::numeric_limits<uint32_t>::max() ? 5 : 9;
}

template <class Type>
bool Fits(int64_t value) {
  return value >= std::numeric_limits<Type>::min() && value <= std::numeric_limits<Type>::max();
}

}  // namespace

size_t SerializedStringBytes(const Entry& entry) {
  StringText text(entry);
  Bytes bytes = text.View();
  if (bytes.size() <= kIntegerDigitsMax) {
    if (auto integer = ParseInteger(bytes); integer && Fits<int32_t>(*integer)) {
      return Fits<int8_t>(*integer) ? 2 : Fits<int16_t>(*integer) ? 3 : 5;
    }
  }
  return LengthBytes(bytes.size()) + bytes.size();
}

std::string DescribeEntry(const Entry& entry, const Settings& settings, int64_t now_ms) {
  constexpr char kDigits[] = "0123456789abcdef";
  std::string address;
  for (uintptr_t left = reinterpret_cast<uintptr_t>(&entry); left != 0; left /= 16)
    address.insert(0, 1, kDigits[left % 16]);
  return StrCat("Value at:0x", address, " refcount:", ReferenceCount(entry, settings),
                " encoding:", EncodingName(entry), " serializedlength:", SerializedStringBytes(entry),
                " lru:", entry.Access(), " lru_seconds_idle:", KeyUsage::IdleSeconds(entry.Access(), now_ms));
}

std::string DescribeTable(const HashIndex<Entry*>& table, TableDetail detail) {
  std::string text = "Hash table 0 stats (main hash table):\n";
  if (table.Size() == 0) return text + "No stats available for empty dictionaries\n";
  StrAppend(text, " table size: ", table.Capacity(), "\n number of elements: ", table.Size(), "\n");
  if (detail == TableDetail::kBrief) return text;
  double load = static_cast<double>(table.Size()) / static_cast<double>(table.Capacity());
  double per_key = static_cast<double>(table.UsedBytes()) / static_cast<double>(table.Size());
  return StrCat(text, " pages: ", table.PageCount(), "\n load factor: ", FixedText(load, 2),
                "\n used bytes: ", table.UsedBytes(), "\n bytes per element: ", FixedText(per_key, 2), "\n");
}

}  // namespace respite
