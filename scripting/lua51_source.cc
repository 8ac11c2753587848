#include "scripting/lua51.h"

namespace respite {

std::string AdaptSource(Bytes source) { return std::string(source); }

}  // namespace respite
