// BlockedClient: a blocked session and the request that will run again.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "datatypes/entry.h"
#include "protocol/reply.h"
#include "server/clients/key_queues.h"

namespace respite {

struct Services;
struct Command;
struct Session;

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

  // Memory of the entries in the key queues, which the BlockedClient itself does not own.
  size_t HeldPlaceBytes() const {
    constexpr size_t kNodeBytes = 4 * sizeof(void*);
    return (places.capacity() + loss_places.capacity()) * (sizeof(KeyQueues<BlockedClient*>::Place) + kNodeBytes);
  }
};

}  // namespace respite
