#include "datatypes/stream_id.h"

#include <algorithm>
#include <cerrno>
#include <cstdlib>

#include "base/byte_order.h"
#include "base/number_text.h"

namespace respite {

namespace {

constexpr size_t kLongestText = 127;

// Parses the milliseconds or the sequence number of an ID. As in Redis, a text that is no number in canonical form is
// parsed again with strtoull. So -5 is refused, but -05 wraps around to 2^64 - 5.
std::optional<uint64_t> ParsePart(Bytes text) {
  if (const auto plain = ParseUnsigned(text)) return plain;
  if (text.empty() || ParseInteger(text)) return std::nullopt;
  const std::string copy(text);
  char* end = nullptr;
  errno = 0;
  const unsigned long long value = std::strtoull(copy.c_str(), &end, 10);
  if (errno != 0 || end == copy.c_str() || end != copy.c_str() + copy.size()) return std::nullopt;
  return value;
}

}  // namespace

std::optional<StreamId> StreamId::Next() const {
  if (seq != UINT64_MAX) return StreamId{ms, seq + 1};
  if (ms != UINT64_MAX) return StreamId{ms + 1, 0};
  return std::nullopt;
}

std::optional<StreamId> StreamId::Previous() const {
  if (seq != 0) return StreamId{ms, seq - 1};
  if (ms != 0) return StreamId{ms - 1, UINT64_MAX};
  return std::nullopt;
}

std::array<char, 16> StreamId::RawBytes() const {
  std::array<char, 16> bytes;
  StoreBig<uint64_t>(bytes.data(), ms);
  StoreBig<uint64_t>(bytes.data() + 8, seq);
  return bytes;
}

StreamId StreamId::FromBytes(Bytes bytes) {
  return {LoadBig<uint64_t>(bytes.data()), LoadBig<uint64_t>(bytes.data() + 8)};
}

StreamIdText::StreamIdText(const StreamId& id, char separator) {
  const IntegerText ms = IntegerText::FromUnsigned(id.ms);
  const IntegerText seq = IntegerText::FromUnsigned(id.seq);
  char* end = std::copy_n(ms.View().data(), ms.View().size(), text_.data());
  *end++ = separator;
  end = std::copy_n(seq.View().data(), seq.View().size(), end);
  size_ = static_cast<uint8_t>(end - text_.data());
}

std::optional<ParsedStreamId> ParseStreamId(Bytes text) {
  if (text.size() > kLongestText) return std::nullopt;
  text = text.substr(0, text.find('\0'));
  const size_t dash = text.find('-');
  const auto ms = ParsePart(text.substr(0, dash));
  if (!ms) return std::nullopt;
  if (dash == Bytes::npos) return ParsedStreamId{{*ms, 0}, ParsedStreamId::Sequence::kMissing};
  const Bytes rest = text.substr(dash + 1);
  if (rest == "*") return ParsedStreamId{{*ms, 0}, ParsedStreamId::Sequence::kAutomatic};
  const auto seq = ParsePart(rest);
  if (!seq) return std::nullopt;
  return ParsedStreamId{{*ms, *seq}, ParsedStreamId::Sequence::kGiven};
}

}  // namespace respite
