// The requests of a session that run later: a Transaction at EXEC, a BlockedClient when its condition is met, and a
// PausedRequest in a later Turn.
#pragma once

#include <cstdint>
#include <memory>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "base/bytes.h"
#include "datatypes/entry.h"
#include "protocol/reply.h"
#include "server/clients/key_queues.h"

namespace respite {

struct Command;
struct Services;
struct Session;
struct WatchList;

struct Progress {
  enum class Stage : uint8_t {
    kNew,
    kAgain,  // paused by CLIENT PAUSE, or blocked: passes the gates again
    kBegun,  // partly done (Call::ContinueInNextTurn): does not pass the gates again
  };
  Stage stage = Stage::kNew;
  int64_t spent_us = 0;         // running time of finished parts
  bool has_met_faults = false;  // TEST FAULT has delayed it
};

// A parsed request that runs, or continues, in a later Turn.
struct PausedRequest {
  std::vector<std::string> words;
  Progress progress;
};

// The events that end the wait of a blocking command; see Call::Wait.
struct BlockCondition {
  // Writes the reply when the timeout ends, or immediately if the client may not block.
  using Answer = void (*)(Reply& reply, const Services& services, const Session& session);
  // Whether the request also runs again when a key was deleted or changed its type.
  enum class Loss : uint8_t { kIgnored, kTold };

  std::span<const Bytes> keys = {};   // any of them ends the wait; empty: only the timeout does
  ValueType type = ValueType::kList;  // keys of another type do not end the wait
  int64_t timeout_ms = 0;             // 0: no timeout
  Loss loss = Loss::kIgnored;
  Answer answer = [](Reply& reply, const Services&, const Session&) { reply.NullArray(); };
  bool for_disk = false;                // runs again when more of the append-only file is on disk
  bool can_be_unblocked = true;         // by CLIENT UNBLOCK
  std::vector<std::string> words = {};  // the arguments to run again, if they differ from the request
};

// A blocked session and the request that will run again.
struct BlockedClient {
  static constexpr int64_t kNoDeadline = INT64_MAX;

  Session* session;
  const Command* command;
  std::vector<std::string> words;
  ValueType type;
  BlockCondition::Loss loss;
  BlockCondition::Answer answer;
  bool for_disk;
  bool can_be_unblocked;
  int64_t deadline_ms = kNoDeadline;  // monotonic
  std::vector<KeyQueues<BlockedClient*>::Place> places;
  std::vector<KeyQueues<BlockedClient*>::Place> loss_places;

  // Returns the memory of the entries in the key queues, which the BlockedClient itself does not own.
  size_t HeldPlaceBytes() const {
    constexpr size_t kNodeBytes = 4 * sizeof(void*);
    return (places.capacity() + loss_places.capacity()) * (sizeof(KeyQueues<BlockedClient*>::Place) + kNodeBytes);
  }
};

// One WATCH of one session.
struct Watcher {
  WatchList* list;
  bool was_expired;  // the key had expired before WATCH, so its removal is not a change
};

class Transaction;

// The watched keys of a session. WatchedKeys fills and empties it.
struct WatchList {
  Transaction* transaction;                    // null: the session has dropped this list
  std::set<KeyQueues<Watcher>::Place> places;  // each key once
  std::set<int> databases;                     // in which a watched key existed at WATCH
};

// The commands that a session queued since MULTI, and the keys that it watches. Created by the first MULTI or WATCH;
// reused afterwards.
class Transaction {
 public:
  bool Open() const { return open_; }
  void Begin() { open_ = true; }
  // Returns whether a command was refused instead of queued. Then EXEC fails.
  bool Broken() const { return broken_; }
  void Break() { broken_ = open_; }
  // Returns whether a watched key changed. Then EXEC runs no commands.
  bool Stale() const { return stale_; }
  void MakeStale() { stale_ = true; }
  void MakeFresh() { stale_ = false; }

  // Queues a copy of the arguments, unless the transaction can no longer run. `flags`: see EffectiveFlags. Cost:
  // O(length of the arguments).
  void Queue(const Command& command, std::span<const Bytes> words, uint32_t flags);
  size_t Size() const { return size_; }
  // Visits (command, words) in order.
  template <class Visit>
  void ForEach(Visit&& visit) const;
  // Returns the union of the CommandFlag bits of the queued commands.
  uint32_t Flags() const { return flags_; }

  // Drops the queued commands and ends the transaction. The watched keys stay: see WatchedKeys::Forget.
  void End();
  // Returns the memory of queued commands and watched keys. Cost: O(1).
  size_t HeldBytes() const;
  // Returns the total length of all queued arguments.
  size_t QueuedTextBytes() const { return text_bytes_; }

  std::unique_ptr<WatchList> watches;  // null without watched keys

 private:
  struct Queued {
    const Command* command;
    size_t words;
  };

  // Commands are queued in blocks, because growing one vector of millions would stall the server.
  struct Block {
    static constexpr size_t kFullTextBytes = 64 * 1024;
    static constexpr size_t kFullWords = 8 * 1024;
    bool Full() const { return text.size() >= kFullTextBytes || ends.size() >= kFullWords; }
    size_t HeldBytes() const;

    std::vector<Queued> commands;
    std::vector<size_t> ends;  // the end of each argument in text
    std::string text;
  };

  Block& Room();
  size_t QueueBytes() const { return full_bytes_ + (blocks_.empty() ? 0 : blocks_.back().HeldBytes()); }

  bool open_ = false;
  bool broken_ = false;
  bool stale_ = false;
  uint32_t flags_ = 0;
  std::vector<Block> blocks_;
  size_t size_ = 0;        // commands in all blocks
  size_t text_bytes_ = 0;  // length of text in all blocks
  size_t full_bytes_ = 0;  // memory of all blocks except the last
};

template <class Visit>
void Transaction::ForEach(Visit&& visit) const {
  std::vector<Bytes> words;
  for (const Block& block : blocks_) {
    size_t word = 0;
    size_t start = 0;
    for (const Queued& queued : block.commands) {
      words.clear();
      for (; words.size() < queued.words; start = block.ends[word++]) {
        words.push_back(Bytes(block.text).substr(start, block.ends[word] - start));
      }
      visit(*queued.command, std::span<const Bytes>(words));
    }
  }
}

}  // namespace respite
