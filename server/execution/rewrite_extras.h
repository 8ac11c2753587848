// Lines of the configuration file that are not directives, for CONFIG REWRITE.
#pragma once

#include "server/clients/acl/users.h"
#include "server/clients/client_subsystem.h"
#include "server/config/config_rewrite.h"
#include "server/config/settings.h"
#include "server/execution/services.h"

namespace respite {

inline RewriteExtras RewriteExtrasOf(const Services& services) {
  RewriteExtras extras;
  extras.user_lines.emplace();
  if (services.env.settings.aclfile.empty()) extras.user_lines = services.clients.users.ConfigLines();
  return extras;
}

}  // namespace respite
