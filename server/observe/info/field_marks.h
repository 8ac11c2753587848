// Removes the fields of INFO that the emulated version lacks. If no version is emulated, removes those that Redis 7.2
// lacks, except a few useful ones. The sections themselves write the fields of all versions.
#pragma once

#include <string>

#include "server/catalogue/dialect.h"

namespace respite {

std::string FilterInfoFields(const Dialect& dialect, std::string section);  // omits INFO fields that the version lacks

}  // namespace respite
