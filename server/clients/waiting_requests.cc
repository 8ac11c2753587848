#include "server/clients/waiting_requests.h"

#include "server/catalogue/command_table.h"

namespace respite {

void Transaction::Queue(const Command& command, std::span<const Bytes> arguments) {
  if (has_refused_command_ || has_watched_key_changed_) return;
  Block& block = Room();
  block.commands.push_back({&command, arguments.size()});
  for (Bytes word : arguments) {
    block.text.append(word);
    block.ends.push_back(block.text.size());
    text_bytes_ += word.size();
  }
  ++size_;
  if (command.Spec().flags_of == nullptr) {
    fixed_flags_ |= command.flags;
  } else {
    has_variable_flags_ = true;
  }
}

uint32_t Transaction::Flags(const Services& services, const Session& session) const {
  uint32_t flags = fixed_flags_;
  if (!has_variable_flags_) return flags;
  ForEach([&](const Command& command, std::span<const Bytes> words) {
    const FlagsHook hook = command.Spec().flags_of;
    if (hook != nullptr) flags |= hook(services, session, words, command.flags);
  });
  return flags;
}

Transaction::Block& Transaction::Room() {
  if (blocks_.empty() || blocks_.back().Full()) {
    full_bytes_ = QueueBytes();
    blocks_.emplace_back();
  }
  return blocks_.back();
}

void Transaction::End() {
  constexpr size_t kKeptBytes = 4096;  // memory kept for the next transaction
  is_open_ = has_refused_command_ = has_watched_key_changed_ = false;
  fixed_flags_ = 0;
  has_variable_flags_ = false;
  if (QueueBytes() > kKeptBytes) blocks_ = {};
  for (Block& block : blocks_) {  // there is at most one block
    block.commands.clear();
    block.ends.clear();
    block.text.clear();
  }
  size_ = text_bytes_ = full_bytes_ = 0;
}

size_t Transaction::HeldBytes() const {
  // Estimated memory of one watched key: a node of the set `places`, and a node of the key's queue with the key's name.
  constexpr size_t kWatchBytes = sizeof(KeyQueues<Watcher>::Place) + sizeof(Watcher) + 8 * sizeof(void*);
  return sizeof *this + QueueBytes() + (watches == nullptr ? 0 : watches->places.size() * kWatchBytes);
}

size_t Transaction::Block::HeldBytes() const {
  return sizeof *this + commands.capacity() * sizeof(Queued) + ends.capacity() * sizeof(size_t) + text.capacity();
}

}  // namespace respite
