// RequestOwner: the client that sent a request, with its properties at that time. TEST JOURNAL and TEST LINT show it
// after the client has disconnected.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "server/lab/request_filter.h"

namespace respite {

struct RequestOwner {
  // Bytes kept of each text, because clients choose the texts, which may have megabytes.
  static constexpr size_t kMostBytes = 256;

  uint64_t id = 0;
  std::string name;
  std::string user;
  std::string address;
  std::string library;

  static std::shared_ptr<const RequestOwner> Of(const Session& client);
  // Returns whether the client still has these properties. Cost: O(1), without an allocation.
  bool IsStill(const Session& client) const;
  ClientView View() const { return {.id = id, .name = name, .user = user, .address = address, .library = library}; }
};

// Returns whether the request is TEST itself or traffic between servers. `command` is null for an unknown command.
bool IsOwnTalk(const Session& client, const Command* command);

}  // namespace respite
