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

struct Progress {  // progress of a request that runs in several Turns
  enum class Stage : uint8_t {
    kNew,  // has not been paused or blocked
    // Must pass the checks (Gates) again: has waited (pause, MIGRATE, or blocked) before it ran, or has called
    // Call::RestartInNextTurn.
    kAgain,  // runs from its beginning, with the checks
    kBegun,  // runs again without checks, after Call::ContinueInNextTurn or BlockedClients::Continue
  };
  Stage stage = Stage::kNew;    // kBegun: the request runs without the checks (Gates)
  int64_t spent_us = 0;         // how long the request has run so far, in µs
  bool has_met_faults = false;  // true: TEST FAULT has seen the request, and must not change it again
  int restarts = 0;             // how often the handler has called Call::RestartInNextTurn
};

struct CommandState {  // base of what a command remembers until it continues in a later Turn
  CommandState() = default;
  CommandState(const CommandState&) = delete;
  CommandState& operator=(const CommandState&) = delete;
  virtual ~CommandState() = default;
};

struct PausedRequest {             // a request that waits, and will run in a later Turn
  std::vector<std::string> words;  // arguments of the request; the first one is the command's name
  Progress progress;               // how much of the request is done
};

// The argument of Call::Wait, which a blocking command calls.
struct BlockCondition {  // what a blocking command waits for, and what happens after the timeout
  // A function that writes the reply when the timeout has passed, or immediately if the client may not block.
  using Answer = void (*)(Reply& reply, const Services& services, const Session& session);
  // Whether the request also runs again when one of its keys is deleted or changes its type. kEndsWait: it does.
  // kIgnored: it does not.
  enum class KeyLoss : uint8_t { kIgnored, kEndsWait };  // whether a deleted key ends the wait

  std::span<const Bytes> keys = {};   // a change of one of these keys runs the request again; empty: no key
  ValueType type = ValueType::kList;  // only keys of this type run the request again
  int64_t timeout_ms = 0;             // how long the client waits; 0: no timeout
  KeyLoss loss = KeyLoss::kIgnored;   // kEndsWait: deletion or another type of a key runs it too
  Answer answer = [](Reply& reply, const Services&, const Session&) { reply.NullArray(); };  // reply after the timeout
  int64_t retry_ms = 0;                 // after this time, the request runs again if the client still waits; 0: never
  bool waits_for_acks_or_disk = false;  // WAIT, WAITAOF: an fsync or a replica's ACK runs the request again
  bool can_be_unblocked = true;         // true: CLIENT UNBLOCK may end the wait
  std::vector<std::string> words = {};  // arguments of the request that runs later; empty: the current arguments
};

struct BlockedClient {                               // a blocked session, and the request that runs when the wait ends
  static constexpr int64_t kNoDeadline = INT64_MAX;  // deadline_ms of a wait without a timeout

  Session* session;                   // the blocked session
  const Command* command;             // the command to run again
  std::vector<std::string> words;     // arguments of the request to run again; the first is the name
  ValueType type;                     // only keys of this type run the request again
  BlockCondition::KeyLoss loss;       // kEndsWait: deletion or another type of a key runs it too
  BlockCondition::Answer answer;      // writes the reply after the timeout
  bool waits_for_acks_or_disk;        // WAIT, WAITAOF: an fsync or a replica's ACK runs the request again
  bool can_be_unblocked;              // true: CLIENT UNBLOCK may end the wait
  int64_t deadline_ms = kNoDeadline;  // monotonic clock time when the wait times out
  int64_t retry_at_ms = kNoDeadline;  // monotonic clock time when the request runs again; kNoDeadline: never
  std::vector<KeyQueues<BlockedClient*>::Place> places;                 // places in BlockedClients::queues_
  std::vector<KeyQueues<BlockedClient*>::Place> deletion_queue_places;  // in BlockedClients::deletion_queues_

  int64_t DueMs() const { return std::min(deadline_ms, retry_at_ms); }  // when the timeout passes or a retry is due
  size_t HeldPlaceBytes() const {  // memory of `places` and deletion_queue_places in bytes
    constexpr size_t kNodeBytes = 4 * sizeof(void*);
    return (places.capacity() + deletion_queue_places.capacity()) *
           (sizeof(KeyQueues<BlockedClient*>::Place) + kNodeBytes);
  }
};

struct Watcher {     // one WATCH: a session that watches one key
  WatchList* list;   // all keys that this session watches
  bool was_expired;  // true: the key had expired before WATCH, so its removal is no change
};

class Transaction;

struct WatchList {                             // the keys that one session watches
  Transaction* transaction;                    // transaction of the session; null: all keys were unwatched
  std::set<KeyQueues<Watcher>::Place> places;  // places in the queues of WatchedKeys, one for each key
  std::set<int> databases;                     // databases in which a watched key existed at WATCH
};

// The commands that a session has queued since MULTI, and the keys that it watches. The first MULTI or WATCH creates
// the Transaction, which later transactions of the session reuse.
class Transaction {  // a session's commands since MULTI, and its WATCHed keys
 public:
  bool IsOpen() const { return is_open_; }                         // true: after MULTI, until EXEC or DISCARD
  void Begin() { is_open_ = true; }                                // MULTI: opens the transaction
  bool HasRefusedCommand() const { return has_refused_command_; }  // true: EXEC will fail, as a command was refused
  void NoteRefusedCommand() { has_refused_command_ = is_open_; }   // a command was refused: after MULTI, EXEC will fail
  // Returns true if a watched key has changed. Then EXEC returns null or, if a command was refused, EXECABORT. EXEC
  // also asks WatchedKeys::HasExpiredWatchedKey.
  bool HasWatchedKeyChanged() const { return has_watched_key_changed_; }  // true: EXEC will run no commands
  void NoteWatchedKeyChange() { has_watched_key_changed_ = true; }  // a watched key has changed: EXEC will run nothing
  void ForgetWatchedKeyChange() { has_watched_key_changed_ = false; }  // UNWATCH: changes until now do not matter

  // Queues a command for EXEC, and copies its arguments. Does nothing if the transaction can no longer run. Cost:
  // O(length of the arguments).
  void Queue(const Command& command, std::span<const Bytes> arguments);  // copies a command, which EXEC will run
  size_t Size() const { return size_; }                                  // number of queued commands
  template <class Visit>
  void ForEach(Visit&& visit) const;  // calls visit(command, arguments) in order
  // Returns each CommandFlag bit that at least one queued command has now. The flags of a command that runs a script
  // depend on the script, which may have been replaced since the command was queued. Cost: O(1), or O(length of the
  // arguments) if the flags of a queued command depend on its arguments.
  uint32_t Flags(const Services& services, const Session& session) const;  // flags that any queued command has now

  // Ends the transaction (EXEC, DISCARD) and drops the queued commands. The session still watches its keys until
  // WatchedKeys::Forget.
  void End();
  size_t HeldBytes() const;                               // memory of queued commands and watched keys in bytes
  size_t QueuedTextBytes() const { return text_bytes_; }  // bytes of all queued arguments

  std::unique_ptr<WatchList> watches;  // the keys that the session watches; null: none

 private:
  struct Queued {            // a command that waits for EXEC
    const Command* command;  // the command to run at EXEC
    size_t words;            // number of its arguments, with the command's name
  };

  // Queued commands are stored in blocks, because growing one vector of millions of commands would stall the server.
  struct Block {  // memory for some queued commands; only the last block has room
    static constexpr size_t kFullTextBytes = 64 * 1024;  // a block with this many bytes of arguments is full
    static constexpr size_t kFullArguments = 8 * 1024;   // a block with this many arguments is full
    bool Full() const { return text.size() >= kFullTextBytes || ends.size() >= kFullArguments; }
    size_t HeldBytes() const;  // memory of the block in bytes

    std::vector<Queued> commands;  // the queued commands in order
    std::vector<size_t> ends;      // where each argument ends in `text`
    std::string text;              // all arguments, one after the other
  };

  Block& Room();               // returns the last block, or a new one if the last is full
  size_t QueueBytes() const {  // memory of the queued commands in bytes
    return full_bytes_ + (blocks_.empty() ? 0 : blocks_.back().HeldBytes());
  }

  bool is_open_ = false;                  // true: after MULTI, until EXEC or DISCARD
  bool has_refused_command_ = false;      // true: EXEC will fail, because a command was refused
  bool has_watched_key_changed_ = false;  // true: EXEC will run no commands, because a watched key has changed
  uint32_t fixed_flags_ = 0;              // CommandFlag bits of all queued commands, except those with flags_of (EVAL)
  bool has_variable_flags_ = false;  // true: Flags must compute the flags of a queued command (CommandSpec::flags_of)
  std::vector<Block> blocks_;        // the queued commands
  size_t size_ = 0;                  // number of queued commands
  size_t text_bytes_ = 0;            // bytes of all queued arguments
  size_t full_bytes_ = 0;            // memory of all blocks except the last one, in bytes
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
