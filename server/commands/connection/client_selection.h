// ClientSelection: which clients CLIENT LIST shows and CLIENT KILL closes.
//
//   const ClientSelection filter = TakeClientSelection(call, ClientPurpose::kKill);
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

  std::optional<std::vector<uint64_t>> ids;  // of ID
  std::optional<bool> skips_caller;          // of SKIPME
  std::map<Bytes, Condition> by_property;    // all must be true; under the option's name

  bool Matches(const Session& session) const;
  // Calls visit(session) for each client that matches and does not close: in the order of `ids`, or else in that of all
  // IDs. Cost: O(ids × log clients), or O(clients).
  template <class Visit>
  void ForEachMatch(const Clients& clients, Visit&& visit) const;
};

// What the selected clients are for. The rules for IDs differ.
enum class ClientPurpose : uint8_t { kList, kKill };

// Takes options up to the last argument. If one is repeated, the last counts. The filter holds views of the request.
ClientSelection TakeClientSelection(Call& call, ClientPurpose purpose);
// The clients that are connected from this address.
ClientSelection ClientsFrom(Bytes address);

template <class Visit>
void ClientSelection::ForEachMatch(const Clients& clients, Visit&& visit) const {
  if (!ids) {
    return clients.ForEach([&](Session& session) {
      if (!session.closing && Matches(session)) visit(session);
    });
  }
  for (uint64_t id : *ids) {
    Session* const session = clients.Find(id);
    if (session != nullptr && Matches(*session)) visit(*session);
  }
}

}  // namespace respite
