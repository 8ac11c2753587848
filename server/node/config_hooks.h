// Hooks of CONFIG SET, for directives that need more than a new value.
#pragma once

namespace respite {

struct Services;

// Registers what must happen when directives change. Must be called once. `services` must outlive the Config.
void RegisterConfigHooks(const Services& services);  // sets what CONFIG SET also does when it stores a value

}  // namespace respite
