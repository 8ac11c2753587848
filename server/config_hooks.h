// What CONFIG SET has to do beyond changing a value that is read anew each time.
#pragma once

namespace respite {

class Server;

// Requires: called once for a server, which outlives its Config's use.
void RegisterConfigHooks(Server& server);

}  // namespace respite
