// ClientSelection: which clients CLIENT LIST shows and CLIENT KILL closes.
//
//   const ClientSelection filter = TakeClientSelection(call, ClientIds::kPositive);
//   filter.ForEachMatch(call.services.clients, [](Session& session) { … });
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <vector>

#include "base/bytes.h"
#include "server/clients/clients.h"

namespace respite {

struct Call;

struct ClientSelection {
  using Condition = std::function<bool(const Session&)>;

  std::vector<uint64_t> ids;               // of ID; empty without it
  std::optional<bool> skips_caller;        // of SKIPME
  std::map<Bytes, Condition> by_property;  // all must be true; under the option's name

  bool Matches(const Session& session) const;
  // Calls visit(session) for each client that matches and does not close: in the order of `ids`, or else in that of all
  // IDs. Cost: O(ids × log clients), or O(clients).
  template <class Visit>
  void ForEachMatch(const Clients& clients, Visit&& visit) const;
};

// What counts as an ID. Redis: for CLIENT LIST any integer.
enum class ClientIds : uint8_t { kPositive, kAny };

// Takes options up to the last argument. If one is repeated, the last counts. The filter holds views of the request.
ClientSelection TakeClientSelection(Call& call, ClientIds ids);
// The clients that are connected from this address.
ClientSelection ClientsFrom(Bytes address);

template <class Visit>
void ClientSelection::ForEachMatch(const Clients& clients, Visit&& visit) const {
  for (uint64_t id : ids) {
    Session* const session = clients.Find(id);
    if (session != nullptr && Matches(*session)) visit(*session);
  }
  if (!ids.empty()) return;
  clients.ForEach([&](Session& session) {
    if (!session.closing && Matches(session)) visit(session);
  });
}

}  // namespace respite
