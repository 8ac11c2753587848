// Which fields of INFO the emulated version has. Sections write the fields of all versions.
#pragma once

#include <string>

#include "server/catalogue/dialect.h"

namespace respite {

// Returns the section without the lines that this dialect does not have.
std::string OnlyFieldsOf(const Dialect& dialect, std::string section);

}  // namespace respite
