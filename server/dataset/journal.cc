#include "server/dataset/journal.h"

#include "protocol/request_text.h"

namespace respite {

namespace {

constexpr size_t kMaxKeptBytes = 64 * 1024;
constexpr size_t kMaxKeptItems = 1024;

}  // namespace

void PropagatedCommands::Add(int db, std::span<const Bytes> words, uint8_t targets) {
  items_.push_back({db, targets, text_.size()});
  AppendRequest(text_, words);
}

void PropagatedCommands::AddRequest(int db, Bytes resp_request, uint8_t targets) {
  items_.push_back({db, targets, text_.size()});
  text_ += resp_request;
}

JournalEntry PropagatedCommands::operator[](size_t index) const {
  const Item& item = items_[index];
  const size_t end = index + 1 < items_.size() ? items_[index + 1].begin : text_.size();
  return {item.db, item.targets, Bytes(text_).substr(item.begin, end - item.begin)};
}

void PropagatedCommands::Truncate(size_t count) {
  if (count >= items_.size()) return;
  text_.resize(items_[count].begin);
  items_.resize(count);
  if (count != 0) return;
  FreeIfLarge(text_, kMaxKeptBytes);
  FreeIfLarge(items_, kMaxKeptItems);
}

}  // namespace respite
