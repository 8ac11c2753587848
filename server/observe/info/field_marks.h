// Removes the fields of INFO that the emulated version lacks. If no version is emulated, removes only the fields with
// the mark kIfEmulated (field_marks.cc). The sections themselves write the fields of all versions.
#pragma once

#include <string>

#include "server/catalogue/dialect.h"

namespace respite {

std::string FilterInfoFields(const Dialect& dialect, std::string section);  // omits INFO fields that the version lacks

}  // namespace respite
