// Hooks of CONFIG SET, for directives whose change needs more than a new value.
#pragma once

namespace respite {

struct Services;

// To be called once. `services` must outlive the Config.
void RegisterConfigHooks(const Services& services);

}  // namespace respite
