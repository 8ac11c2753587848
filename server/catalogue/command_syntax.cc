#include "server/catalogue/command_syntax.h"

namespace respite {

std::string_view ArgumentTypeName(ArgumentType type) {
  constexpr std::array<std::string_view, 9> kNames = {"string",    "integer",    "double", "key",  "pattern",
                                                      "unix-time", "pure-token", "oneof",  "block"};
  return kNames[static_cast<size_t>(type)];
}

}  // namespace respite
