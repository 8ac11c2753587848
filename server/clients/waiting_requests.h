// Requests of a session that run later. A Transaction runs at EXEC, the request of a BlockedClient when its condition
// is met, and a PausedRequest in a later Turn.
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

struct Progress {  // how much of a request that runs in several Turns is done
  enum class Stage : uint8_t {
    kNew,
    kAgain,  // paused by CLIENT PAUSE, or blocked: passes the gates again
    kBegun,  // partly done (Call::ContinueInNextTurn): does not pass the gates again
  };
  Stage stage = Stage::kNew;    // whether the checks before a command (Gates) must be made
  int64_t spent_us = 0;         // running time of the parts that are done
  bool has_met_faults = false;  // TEST FAULT has already delayed the request, and must not do so again
};

struct PausedRequest {             // a parsed request that runs, or continues, in a later Turn
  std::vector<std::string> words;  // its arguments, with the command's name
  Progress progress;               // how far the request has come
};

// What a blocking command waits for; passed to Call::Wait.
struct BlockCondition {  // what a blocking command waits for
  // A function that writes the reply when the timeout has passed, or immediately if the client may not block.
  using Answer = void (*)(Reply& reply, const Services& services, const Session& session);
  // Whether the request also runs again when one of its keys was deleted or changed its type. kTold: it does.
  enum class Loss : uint8_t { kIgnored, kTold };

  std::span<const Bytes> keys = {};   // any of them ends the wait; empty: only the timeout does
  ValueType type = ValueType::kList;  // keys of another type do not end the wait
  int64_t timeout_ms = 0;             // how long the client waits; 0: no timeout
  Loss loss = Loss::kIgnored;         // kTold: deletion of a key, or another type, also wakes it
  Answer answer = [](Reply& reply, const Services&, const Session&) { reply.NullArray(); };  // reply after the timeout
  bool for_disk = false;                // WAITAOF: runs again when more of the append-only file is on disk
  bool can_be_unblocked = true;         // CLIENT UNBLOCK may end the wait
  std::vector<std::string> words = {};  // the arguments to run again, if they differ from the request
};

struct BlockedClient {                               // a blocked session, and the request to run again
  static constexpr int64_t kNoDeadline = INT64_MAX;  // deadline_ms of a client that waits without a timeout

  Session* session;                // the session that is blocked
  const Command* command;          // the command that runs again
  std::vector<std::string> words;  // of the request that runs again, with the command's name
  ValueType type;
  BlockCondition::Loss loss;
  BlockCondition::Answer answer;      // writes the reply after the timeout
  bool for_disk;                      // WAITAOF: runs again when more of the append-only file is on disk
  bool can_be_unblocked;              // CLIENT UNBLOCK may end the wait
  int64_t deadline_ms = kNoDeadline;  // monotonic time when the timeout passes
  std::vector<KeyQueues<BlockedClient*>::Place> places;                 // positions in the queues of its keys
  std::vector<KeyQueues<BlockedClient*>::Place> deletion_queue_places;  // positions in BlockedClients::deletion_queues_

  size_t HeldPlaceBytes() const {  // memory of `places` and deletion_queue_places
    constexpr size_t kNodeBytes = 4 * sizeof(void*);
    return (places.capacity() + deletion_queue_places.capacity()) *
           (sizeof(KeyQueues<BlockedClient*>::Place) + kNodeBytes);
  }
};

struct Watcher {  // one WATCH of one session
  WatchList* list;
  bool was_expired;  // true: the key had expired before WATCH, so its removal is no change
};

class Transaction;

struct WatchList {           // the watched keys of one session; WatchedKeys fills and empties it
  Transaction* transaction;  // the transaction of the session; null: the session has dropped this list
  std::set<KeyQueues<Watcher>::Place> places;  // positions in the queues of WatchedKeys; each key once
  std::set<int> databases;                     // databases in which a watched key existed at WATCH
};

// The commands that a session has queued since MULTI, and the keys that it watches. The first MULTI or WATCH creates
// the Transaction, which later transactions of the session reuse.
class Transaction {  // the commands that a session queued since MULTI, and the keys that it watches
 public:
  bool Open() const { return open_; }                              // between MULTI and EXEC
  void Begin() { open_ = true; }                                   // MULTI opens the transaction
  bool HasRefusedCommand() const { return has_refused_command_; }  // true: EXEC fails, because a command was refused
  void NoteRefusedCommand() { has_refused_command_ = open_; }  // a command was refused: a transaction's EXEC will fail
  bool HasWatchedKeyChanged() const { return has_watched_key_changed_; }  // true: EXEC runs no commands
  void NoteWatchedKeyChange() { has_watched_key_changed_ = true; }        // EXEC will run no commands
  void ForgetWatchedKeyChange() { has_watched_key_changed_ = false; }  // UNWATCH: earlier changes of keys do not matter

  // Queues a command for EXEC, and copies its arguments. Does nothing if the transaction can no longer run. `flags`:
  // see EffectiveFlags. Cost: O(length of the arguments).
  void Queue(const Command& command, std::span<const Bytes> arguments, uint32_t flags);  // for EXEC
  size_t Size() const { return size_; }                                                  // number of queued commands
  template <class Visit>
  void ForEach(Visit&& visit) const;         // calls visit(command, arguments) in order
  uint32_t Flags() const { return flags_; }  // the CommandFlag bits of all queued commands

  // Ends the transaction (EXEC, DISCARD) and drops the queued commands. The session still watches its keys;
  // WatchedKeys::Forget ends that.
  void End();
  size_t HeldBytes() const;                               // memory of queued commands and watched keys
  size_t QueuedTextBytes() const { return text_bytes_; }  // bytes of all queued arguments

  std::unique_ptr<WatchList> watches;  // the keys that the session watches; null: none

 private:
  struct Queued {            // a queued command
    const Command* command;  // the command to run at EXEC
    size_t words;            // number of its arguments, with its name
  };

  // Queued commands are stored in blocks, because growing one vector of millions of commands would stall the server.
  struct Block {  // queued commands with their arguments; the last block may have room
    static constexpr size_t kFullTextBytes = 64 * 1024;  // a block is full when its arguments have this many bytes
    static constexpr size_t kFullArguments = 8 * 1024;   // a block is full when it has this many arguments
    bool Full() const { return text.size() >= kFullTextBytes || ends.size() >= kFullArguments; }
    size_t HeldBytes() const;  // memory of the commands and their arguments

    std::vector<Queued> commands;  // queued commands in order
    std::vector<size_t> ends;      // the end of each argument in text
    std::string text;              // all arguments, one after the other
  };

  Block& Room();  // returns the last block, or a new one if that is full
  size_t QueueBytes() const { return full_bytes_ + (blocks_.empty() ? 0 : blocks_.back().HeldBytes()); }  // memory

  bool open_ = false;                     // after MULTI
  bool has_refused_command_ = false;      // EXEC fails, because a command was refused
  bool has_watched_key_changed_ = false;  // EXEC runs no commands, because a watched key has changed
  uint32_t flags_ = 0;                    // CommandFlag bits of all queued commands
  std::vector<Block> blocks_;             // the queued commands
  size_t size_ = 0;                       // number of commands in all blocks
  size_t text_bytes_ = 0;                 // bytes of all queued arguments
  size_t full_bytes_ = 0;                 // memory of all blocks except the last one
};

template <class Visit>
void Transaction::ForEach(Visit&& visit) const {  // calls visit(command, arguments) in order
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
