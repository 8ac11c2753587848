#include "server/dataset/journal.h"

#include <algorithm>
#include <set>

#include "base/bytes.h"
#include "protocol/request_text.h"

namespace respite {

namespace {

constexpr size_t kMaxKeptBytes = 64 * 1024;
constexpr size_t kMaxKeptItems = 1024;

constexpr uint8_t kAloneForReplicas = JournalEntry::kReplicas | JournalEntry::kAlone;

// The words of some commands of a group, which tell the keys that they may change.
class LaterChanges {
 public:
  void Add(const JournalEntry& command) {
    const std::vector<Bytes> words = WordsOfRequest(command.request);
    if (IsPlainXAdd(words)) return;
    for (const Bytes name : {"SWAPDB", "FLUSHDB", "FLUSHALL"}) changes_all_keys_ |= EqualsIgnoreCase(words[0], name);
    words_.insert(words.begin() + 1, words.end());
  }
  // A command for another database, or with the key at a place where it is no key, also makes the answer true.
  bool MayChange(Bytes key) const { return changes_all_keys_ || words_.contains(key); }

 private:
  // Options of XADD, such as MAXLEN, come directly after the key, and an ID begins with a digit.
  static bool IsPlainXAdd(const std::vector<Bytes>& words) {
    return words.size() > 2 && EqualsIgnoreCase(words[0], "XADD") && !words[2].empty() && words[2][0] >= '0' &&
           words[2][0] <= '9';
  }

  bool changes_all_keys_ = false;
  std::set<Bytes> words_;  // all words of the commands except their names
};

}  // namespace

std::vector<size_t> CommandsAfterExec(const PropagatedGroup& group) {
  const auto is_alone = [&](size_t i) { return (group[i].targets & kAloneForReplicas) == kAloneForReplicas; };
  size_t first = 0;
  while (first < group.Count() && !is_alone(first)) ++first;
  std::vector<size_t> found;
  LaterChanges later;
  for (size_t i = group.Count(); i-- > first;) {
    if (is_alone(i)) {
      if (!later.MayChange(WordsOfRequest(group[i].request)[1])) found.push_back(i);
    } else {
      later.Add(group[i]);
    }
  }
  std::reverse(found.begin(), found.end());
  return found;
}

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
