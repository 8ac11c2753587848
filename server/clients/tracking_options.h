// TrackingOptions: how one client wants to hear of changes to the keys that it caches (CLIENT TRACKING).
#pragma once

#include <cstdint>
#include <set>
#include <string>

namespace respite {

struct TrackingOptions {
  enum class Mode : uint8_t {
    kAll,        // every key that it reads
    kOptIn,      // those of a command behind CLIENT CACHING YES
    kOptOut,     // all but those of a command behind CLIENT CACHING NO
    kBroadcast,  // every key with one of the prefixes, read or not
  };

  Mode mode = Mode::kAll;
  bool no_loop = false;                              // not of its own changes
  uint64_t redirect = 0;                             // the client that is told instead; 0: itself
  bool redirect_lost = false;                        // that client is gone
  bool caching_given = false;                        // CLIENT CACHING, for the next command
  std::set<std::string, std::less<>> prefixes = {};  // of kBroadcast; "" stands for all keys

  // Long prefixes are not looked at.
  size_t HeldBytes() const {
    constexpr size_t kNodeBytes = sizeof(std::string) + 4 * sizeof(void*);
    return sizeof *this + prefixes.size() * kNodeBytes;
  }
};

}  // namespace respite
