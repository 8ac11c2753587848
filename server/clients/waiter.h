// Waiter: a session that waits for keys, with the request that will run again.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "datatypes/entry.h"
#include "protocol/reply.h"
#include "server/clients/key_lines.h"

namespace respite {

struct Services;
struct Command;
struct Session;

// What a command waits for when it has nothing to answer with; see Call::Wait.
struct Awaited {
  // What a client is told when its time is up, or at once where it may not wait.
  using Answer = void (*)(Reply& reply, const Services& services, const Session& session);
  // Whether the client also wants to know that a key is gone, or is of another type now.
  enum class Loss : uint8_t { kIgnored, kTold };

  std::span<const Bytes> keys = {};   // any of them; none: only time ends the wait
  ValueType type = ValueType::kList;  // a key that comes up with another type is not what is waited for
  int64_t timeout_ms = 0;             // 0: for ever
  Loss loss = Loss::kIgnored;
  Answer answer = [](Reply& reply, const Services&, const Session&) { reply.NullArray(); };
  bool for_disk = false;                // the request runs again when more of the journal is on the disk
  std::vector<std::string> words = {};  // to run again, where it is not the request as it came
};

struct Waiter {
  static constexpr int64_t kNoDeadline = INT64_MAX;

  Session* session;
  const Command* command;
  std::vector<std::string> words;
  ValueType type;
  Awaited::Loss loss;
  Awaited::Answer answer;
  bool for_disk;
  int64_t deadline_ms = kNoDeadline;  // monotonic
  std::vector<KeyLines<Waiter*>::Place> places;
  std::vector<KeyLines<Waiter*>::Place> loss_places;

  // For the places in lines, which the waiter shares with others.
  size_t HeldPlaceBytes() const {
    constexpr size_t kNodeBytes = 4 * sizeof(void*);
    return (places.capacity() + loss_places.capacity()) * (sizeof(KeyLines<Waiter*>::Place) + kNodeBytes);
  }
};

}  // namespace respite
