// What CONFIG SET has to do beyond changing a value that is read anew each time.
#pragma once

namespace respite {

class Server;
struct RewriteExtras;

// Requires: called once for a server, which outlives its Config's use.
void RegisterConfigHooks(Server& server);

// The lines of the configuration file that are no settings, for CONFIG REWRITE.
RewriteExtras RewriteExtrasOf(const Server& server);

}  // namespace respite
