// Removes from INFO the fields that the emulated version lacks. The sections themselves write the fields of all
// versions.
#pragma once

#include <string>

#include "server/catalogue/dialect.h"

namespace respite {

std::string FilterInfoFields(const Dialect& dialect, std::string section);  // omits INFO fields that the version lacks

}  // namespace respite
