#include "server/commands/data/collation.h"

#include <langinfo.h>
#include <string.h>

#include <string_view>

namespace respite {

Collation::Collation(const std::string& name) : locale_(newlocale(LC_COLLATE_MASK, name.c_str(), nullptr)) {
  if (locale_ == nullptr) return;
  const std::string_view found = nl_langinfo_l(_NL_LOCALE_NAME(LC_COLLATE), locale_);
  by_bytes_ = found == "C" || found == "POSIX";
}

Collation::~Collation() {
  if (locale_ != nullptr) freelocale(locale_);
}

std::string Collation::KeyOf(Bytes text) const {
  const std::string terminated(text);
  std::string key(strxfrm_l(nullptr, terminated.c_str(), 0, locale_), '\0');
  strxfrm_l(key.data(), terminated.c_str(), key.size() + 1, locale_);
  return key;
}

}  // namespace respite
