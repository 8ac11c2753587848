// Hooks of CONFIG SET, for directives that need more than a new value.
#pragma once

namespace respite {

struct Services;

// Registers the hooks of CONFIG SET. Must be called once. Requires: `services` exists as long as directives can change.
void RegisterConfigHooks(const Services& services);  // registers what a CONFIG SET of some directives must do

}  // namespace respite
