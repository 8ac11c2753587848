// ClientSelection: selects the clients that CLIENT LIST shows and CLIENT KILL closes.
//
//   const ClientSelection filter = TakeClientSelection(call, ClientSelectingCommand::kKill);
//   filter.ForEachMatch(call.services.clients.registry, [](Session& session) { … });
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <vector>

#include "base/bytes.h"
#include "server/clients/client_subsystem.h"
#include "server/clients/clients.h"

namespace respite {

struct Call;

struct ClientSelection {  // options of CLIENT LIST and CLIENT KILL that select clients
  using Condition = std::function<bool(const Session&)>;

  std::optional<std::vector<uint64_t>> ids;  // option ID: the IDs of the selected clients; nullopt: not given
  std::optional<bool> skips_caller;          // SKIPME, which the command applies itself; nullopt: not given
  std::map<Bytes, Condition> by_property;    // the conditions of other options, by option name; all must be true

  bool Matches(const Session& session) const;  // true: all conditions in by_property hold; ids are not checked here
  // Calls visit(session) for each client that matches and is not being closed. The clients come in the order of `ids`,
  // or without `ids` in ascending order of their IDs. Cost: O(ids × log clients), or O(clients) without `ids`.
  template <class Visit>
  void ForEachMatch(const Clients& clients, Visit&& visit) const;  // calls visit(session) for each selected client
};

// The command that selects clients. CLIENT LIST and CLIENT KILL have different rules for IDs.
enum class ClientSelectingCommand : uint8_t { kList, kKill };  // kList: CLIENT LIST; kKill: CLIENT KILL

// Parses all remaining arguments. If an option is repeated, only the last one counts. One exception: if the emulated
// version has the trait client_ids_are_a_set (dialect.h), the clients of all ID options are selected. The result refers
// to the request's bytes.
ClientSelection TakeClientSelection(Call& call,  // parses the options of CLIENT LIST or KILL
                                    ClientSelectingCommand command);
ClientSelection ClientsFrom(Bytes address);  // selects the client whose address is "ip:port"

template <class Visit>
void ClientSelection::ForEachMatch(const Clients& clients,  // calls visit(session) for each selected client
                                   Visit&& visit) const {
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
