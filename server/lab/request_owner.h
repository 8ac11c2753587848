// RequestOwner: the client that sent a request, with the name, user and address that it had at that time. TEST JOURNAL
// and TEST LINT show the properties even after the client has disconnected.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "server/lab/request_filter.h"

namespace respite {

struct RequestOwner {  // the client that sent a request, with its properties at that time
  // The name, user, address and library of a client are cut to this size, because clients choose them and could make
  // them megabytes long.
  static constexpr size_t kMaxTextBytes = 256;  // longer names, users … are cut to this size

  uint64_t id = 0;
  std::string name;
  std::string user;
  std::string address;  // IP address and port: "127.0.0.1:50123"
  std::string library;  // name of the client library (lib-name of CLIENT SETINFO)

  static std::shared_ptr<const RequestOwner> Of(const Session& client);
  bool IsUnchangedIn(const Session& client) const;  // true: the client still has this name, user …; O(1), no allocation
  ClientView View() const { return {.id = id, .name = name, .user = user, .address = address, .library = library}; }
};

// Returns whether a request is the command TEST, or belongs to the traffic between servers (replication, slot
// migration, Sentinels), or comes from a file that is being loaded. `command` is null if it is unknown.
bool IsTestOrServerTraffic(const Session& client, const Command* command);  // a TEST command, or from another server

}  // namespace respite
