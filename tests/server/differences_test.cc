// docs/differences.md must name every directive that is accepted without an effect.

#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <sstream>

#include "server/config/directive_table.h"
#include "server/config/newer_directives.h"

namespace respite {
namespace {

TEST(Differences, NamesEveryDirectiveWithoutEffect) {
  std::ifstream file(RESPITE_SOURCE_DIR "/docs/differences.md");
  std::stringstream text;
  text << file.rdbuf();
  const std::string page = text.str();
  ASSERT_FALSE(page.empty());
  for (std::span<const Directive> subject : DirectivesBySubject()) {
    for (const Directive& directive : subject) {
      const std::string marked = "`" + std::string(directive.name) + "`";
      const size_t directives_part = page.find("## Directives");
      const bool named = page.find(marked, directives_part) != std::string::npos;
      EXPECT_EQ(named, directive.support != SupportLevel::kEffective) << directive.name;
    }
  }
}

TEST(Differences, NamesEveryDirectiveOfLaterVersions) {
  std::ifstream file(RESPITE_SOURCE_DIR "/docs/differences.md");
  std::stringstream text;
  text << file.rdbuf();
  const std::string page = text.str();
  for (const NewerDirective& newer : NewerDirectives()) {
    std::string shown = "`" + std::string(newer.name);
    if (newer.only_harmless_value)
      shown += " " + (newer.only_harmless_value->empty() ? "\"\"" : std::string(*newer.only_harmless_value));
    EXPECT_NE(page.find(shown + "`"), std::string::npos) << shown;
    EXPECT_EQ(FindDirective(newer.name), nullptr) << newer.name;
  }
  EXPECT_TRUE(std::ranges::is_sorted(NewerDirectives(), {}, &NewerDirective::name));
}

}  // namespace
}  // namespace respite
