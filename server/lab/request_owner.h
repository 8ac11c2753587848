// RequestOwner: who has sent a request, as it was then: TEST JOURNAL and TEST LINT show it when the client has left.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "server/lab/request_filter.h"

namespace respite {

struct RequestOwner {
  // Of each text so many bytes are kept: clients choose them, and may choose megabytes.
  static constexpr size_t kMostBytes = 256;

  uint64_t id = 0;
  std::string name;
  std::string user;
  std::string address;
  std::string library;

  static std::shared_ptr<const RequestOwner> Of(const Session& client);
  // The client is still called so. Cost: O(1), without an allocation.
  bool IsStill(const Session& client) const;
  ClientView View() const { return {.id = id, .name = name, .user = user, .address = address, .library = library}; }
};

// TEST itself, and what servers tell each other. `command` is null where the words name none.
bool IsOwnTalk(const Session& client, const Command* command);

}  // namespace respite
