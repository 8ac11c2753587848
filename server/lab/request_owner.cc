#include "server/lab/request_owner.h"

#include "server/catalogue/command_table.h"
#include "server/clients/session.h"

namespace respite {

namespace {

Bytes OwnerText(Bytes text) { return text.substr(0, RequestOwner::kMaxTextBytes); }

// Returns whether a client name belongs to a connection of a Sentinel: "sentinel-1a2b3c4d-cmd" or
// "sentinel-1a2b3c4d-pubsub".
bool IsOfSentinel(Bytes name) {
  return name.starts_with("sentinel-") && (name.ends_with("-cmd") || name.ends_with("-pubsub"));
}

}  // namespace

std::shared_ptr<const RequestOwner> RequestOwner::Of(const Session& client) {
  const ClientView now = ClientView::Of(client);
  return std::make_shared<const RequestOwner>(RequestOwner{.id = now.id,
                                                           .name = std::string(OwnerText(now.name)),
                                                           .user = std::string(OwnerText(now.user)),
                                                           .address = std::string(OwnerText(now.address)),
                                                           .library = std::string(OwnerText(now.library))});
}

bool RequestOwner::IsUnchangedIn(const Session& client) const {
  const ClientView now = ClientView::Of(client);
  return name == OwnerText(now.name) && user == OwnerText(now.user) && library == OwnerText(now.library) &&
         address == OwnerText(now.address);
}

bool IsTestOrServerTraffic(const Session& client, const Command* command) {
  const bool is_test = command != nullptr && command->Spec().protection == Protection::kTestCommands;
  return is_test || client.id == 0 || IsServerLink(client) || IsOfSentinel(client.identity.name);
}

}  // namespace respite
