#include "server/catalogue/version_mark.h"

namespace respite {

std::string VersionMark::Text() const {
  std::string text(Redis());
  if (Valkey().empty()) return text;
  return text + (text.empty() ? "Valkey " : " and Valkey ") + std::string(Valkey());
}

}  // namespace respite
