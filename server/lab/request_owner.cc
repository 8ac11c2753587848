#include "server/lab/request_owner.h"

#include "server/catalogue/command_table.h"
#include "server/clients/session.h"

namespace respite {

std::shared_ptr<const RequestOwner> RequestOwner::Of(const Session& client) {
  const ClientView now = ClientView::Of(client);
  return std::make_shared<const RequestOwner>(RequestOwner{.id = now.id,
                                                           .name = std::string(now.name),
                                                           .user = std::string(now.user),
                                                           .address = std::string(now.address),
                                                           .library = std::string(now.library)});
}

bool RequestOwner::IsStill(const Session& client) const {
  const ClientView now = ClientView::Of(client);
  return name == now.name && user == now.user && library == now.library && address == now.address;
}

bool IsOwnTalk(const Session& client, const Command* command) {
  const bool is_test = command != nullptr && command->Spec().protection == Protection::kTestCommands;
  return is_test || client.id == 0 || IsOfServer(client);
}

}  // namespace respite
