#include "server/config/directive_table.h"

#include <array>

#include "server/config/directive_rows.h"

namespace respite {

std::span<const std::span<const Directive>> DirectivesBySubject() {
  static const std::array kSubjects = {rows::NetworkDirectives(),     rows::ProcessDirectives(),
                                       rows::KeyspaceDirectives(),    rows::PersistenceDirectives(),
                                       rows::ReplicationDirectives(), rows::ClusterDirectives(),
                                       rows::TlsDirectives()};
  return kSubjects;
}

const Directive* FindDirective(Bytes name) {
  for (std::span<const Directive> subject : DirectivesBySubject()) {
    for (const Directive& directive : subject) {
      if (EqualsIgnoreCase(name, directive.name)) return &directive;
      if (!directive.alias.empty() && EqualsIgnoreCase(name, directive.alias)) return &directive;
    }
  }
  return nullptr;
}

}  // namespace respite
