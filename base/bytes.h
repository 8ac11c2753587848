// Bytes: a view of any octets. Redis keys, values and arguments are binary safe, so the same type serves text and data.
#pragma once

#include <string_view>

namespace respite {

using Bytes = std::string_view;

}  // namespace respite
