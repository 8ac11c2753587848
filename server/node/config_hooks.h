// What CONFIG SET has to do beyond changing a value that is read anew each time.
#pragma once

namespace respite {

struct Services;

// Requires: called once for a services, which outlives its Config's use.
void RegisterConfigHooks(const Services& services);

}  // namespace respite
