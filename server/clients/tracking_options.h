// TrackingOptions: how a client is notified of changes to keys that it caches (CLIENT TRACKING).
#pragma once

#include <cstdint>
#include <set>
#include <string>

namespace respite {

struct TrackingOptions {
  enum class Mode : uint8_t {
    kAll,        // every key that it reads
    kOptIn,      // the keys of commands after CLIENT CACHING YES
    kOptOut,     // all keys except those of commands after CLIENT CACHING NO
    kBroadcast,  // every key with one of the prefixes, read or not
  };

  Mode mode = Mode::kAll;
  bool no_loop = false;                              // no invalidations for its own changes
  uint64_t redirect = 0;                             // id of the client that gets the invalidations; 0: this client
  bool redirect_lost = false;                        // that client was closed
  bool caching_given = false;                        // CLIENT CACHING, for the next command
  std::set<std::string, std::less<>> prefixes = {};  // for kBroadcast; "" means all keys

  // Estimate that ignores the length of prefixes.
  size_t HeldBytes() const {
    constexpr size_t kNodeBytes = sizeof(std::string) + 4 * sizeof(void*);
    return sizeof *this + prefixes.size() * kNodeBytes;
  }
};

}  // namespace respite
