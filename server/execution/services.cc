#include "server/execution/services.h"

#include "server/clients/client_subsystem.h"
#include "server/config/config_rewrite.h"
#include "server/config/settings.h"

namespace respite {

RewriteExtras RewriteExtrasOf(const Services& services) {
  RewriteExtras extras;
  extras.user_lines.emplace();
  if (services.env.settings.aclfile.empty()) extras.user_lines = services.clients.users.ConfigLines();
  return extras;
}

}  // namespace respite
