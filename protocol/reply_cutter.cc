#include "protocol/reply_cutter.h"

#include <algorithm>
#include <cstring>

#include "base/number_text.h"

namespace respite {

namespace {

constexpr Bytes kLineEnd = "\r\n";

bool IsText(char kind, bool is_binary) {
  const Bytes kinds = is_binary ? "$=!+-(" : "$=!";
  return kinds.find(kind) != Bytes::npos;
}

bool HasNumber(char kind) { return Bytes("$=!*~>%|").find(kind) != Bytes::npos; }

}  // namespace

ReplyCutter::Header ReplyCutter::TakeHeader() {
  if (Rest().empty()) return {.kind = 0, .value = 0};
  return is_binary_ ? TakeBinaryHeader() : TakeWireHeader();
}

ReplyCutter::Header ReplyCutter::TakeBinaryHeader() {
  Header header{.kind = reply_[at_], .value = 0};
  const size_t size = 1 + sizeof header.value;
  if (Rest().size() < size) {
    at_ = reply_.size();
    return {.kind = 0, .value = 0};
  }
  std::memcpy(&header.value, reply_.data() + at_ + 1, sizeof header.value);
  at_ += size;
  return header;
}

ReplyCutter::Header ReplyCutter::TakeWireHeader() {
  const size_t end = std::min(reply_.find(kLineEnd, at_), reply_.size());
  const char kind = reply_[at_];
  const Bytes line = reply_.substr(at_ + 1, end - at_ - 1);
  at_ = std::min(end + kLineEnd.size(), reply_.size());
  return {.kind = kind, .value = HasNumber(kind) ? ParseInteger(line).value_or(-1) : 0};
}

void ReplyCutter::SkipText(const Header& header) {
  if (!IsText(header.kind, is_binary_) || header.value < 0) return;
  const size_t size = static_cast<size_t>(header.value) + (is_binary_ ? 0 : kLineEnd.size());
  at_ = std::min(at_ + size, reply_.size());
}

// Returns the next complete element, and advances after it. Attributes (`|`) before the element are returned together
// with it.
Bytes ReplyCutter::TakeElement() {
  const size_t begin = at_;
  int64_t left = 1;
  while (left > 0) {
    const Header header = TakeHeader();
    if (header.kind == 0) break;
    SkipText(header);
    left += header.kind == '|' ? 2 * header.value : header.ElementCount() - 1;
  }
  return reply_.substr(begin, at_ - begin);
}

}  // namespace respite
