#include "server/redaction.h"

#include <algorithm>
#include <array>

#include "server/config/directive.h"

namespace respite {

namespace {

constexpr Bytes kRedacted = "(redacted)";

using Words = std::span<Bytes>;
using Hide = void (*)(Words);

void HideFrom(Words words, size_t first, size_t count) {
  for (size_t at = first; at < std::min(first + count, words.size()); ++at) words[at] = kRedacted;
}

void HideAuth(Words words) {
  if (words.size() <= 3) HideFrom(words, 1, 2);
}

void HideHello(Words words) {
  for (size_t at = 2; at + 2 < words.size(); ++at) {
    if (!EqualsIgnoreCase(words[at], "AUTH")) continue;
    HideFrom(words, at + 1, 2);
    at += 2;
  }
}

void HideConfigSet(Words words) {
  for (size_t at = 2; at + 1 < words.size(); at += 2) {
    const Directive* directive = FindDirective(words[at]);
    if (directive != nullptr && directive->Has(directive_flags::kSensitive)) HideFrom(words, at + 1, 1);
  }
}

void HideAclSetUser(Words words) { HideFrom(words, 2, words.size()); }

void HideMigrate(Words words) {
  for (size_t at = 6; at < words.size(); ++at) {
    size_t secrets = EqualsIgnoreCase(words[at], "AUTH") ? 1 : EqualsIgnoreCase(words[at], "AUTH2") ? 2 : 0;
    HideFrom(words, at + 1, secrets);
    at += secrets;
  }
}

struct Rule {
  Bytes full_name;
  Hide hide;
};
constexpr std::array kRules = {Rule{"auth", HideAuth}, Rule{"hello", HideHello}, Rule{"config|set", HideConfigSet},
                               Rule{"acl|setuser", HideAclSetUser}, Rule{"migrate", HideMigrate}};

}  // namespace

std::vector<Bytes> ShownWords(const Command& command, std::span<const Bytes> words) {
  std::vector<Bytes> shown(words.begin(), words.end());
  for (const Rule& rule : kRules)
    if (rule.full_name == command.full_name) rule.hide(shown);
  return shown;
}

}  // namespace respite
