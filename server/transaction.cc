#include "server/transaction.h"

#include "server/command_table.h"

namespace respite {

void Transaction::Queue(const Command& command, std::span<const Bytes> words, uint32_t flags) {
  if (broken_ || stale_) return;
  commands_.push_back({&command, words.size()});
  for (Bytes word : words) {
    text_.append(word);
    ends_.push_back(text_.size());
  }
  flags_ |= flags;
}

void Transaction::End() {
  constexpr size_t kKeptBytes = 4096;  // a client that uses transactions will begin another one
  open_ = broken_ = stale_ = false;
  flags_ = 0;
  if (QueueBytes() > kKeptBytes) {
    commands_ = {};
    ends_ = {};
    text_ = {};
  }
  commands_.clear();
  ends_.clear();
  text_.clear();
}

size_t Transaction::HeldBytes() const {
  // A node of the set here, and one of the key's line with its name.
  constexpr size_t kWatchBytes = sizeof(KeyLines<Watcher>::Place) + sizeof(Watcher) + 8 * sizeof(void*);
  return sizeof *this + QueueBytes() + watched.size() * kWatchBytes;
}

size_t Transaction::QueueBytes() const {
  return commands_.capacity() * sizeof(Queued) + ends_.capacity() * sizeof(size_t) + text_.capacity();
}

}  // namespace respite
