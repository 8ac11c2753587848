// Every command describes itself as Redis 7.2 does: arity, flags, keys, categories, tips, subcommands, arguments.

#include <gtest/gtest.h>

#include <algorithm>
#include <map>

#include "server/commands/families.h"
#include "tests/server/command_facts.h"

namespace respite {
namespace {

// Facts that differ on purpose: golden lines that are missing here, or lines that exist only here. Add a comment with
// the reason.
const std::set<std::string> kAllowed = {
    // CLUSTER REPLICATE NO ONE came with Valkey 9.
    "cluster|replicate arity=3",
    "cluster|replicate arity=-3",
    "cluster|replicate argument#0 name=node-id type=string display_text=node-id",
    "cluster|replicate argument#0 name=args type=oneof",
    "cluster|replicate argument#0.0 name=node-id type=string display_text=node-id",
    // SCRIPT DEBUG takes the name of an engine since Valkey 9.1.
    "script|debug arity=3",
    "script|debug arity=-3",
};

// Whether a command came to Redis or Valkey after 7.2, or exists only here (TEST), so that the golden file lacks it.
bool IsLater(const Command& command) {
  constexpr ServerVersion kGolden = {ServerFamily::kRedis, {7, 2, 999}};
  return !command.Spec().since.IsIn(kGolden) || command.Spec().protection == Protection::kTestCommands;
}

using Facts = std::map<std::string, std::set<std::string>>;

Facts FactsByCommand(const char* file = "commands_7.2.txt") {
  Facts by_command;
  for (const std::string& line : GoldenLines(file)) by_command[std::string(CommandOfFact(line))].insert(line);
  return by_command;
}

// "argument#5.1" of "set argument#5.1 name=nx …"; empty if the fact is about no argument.
std::string ArgumentOf(const std::string& fact) {
  const size_t at = fact.find(" argument#");
  return at == std::string::npos ? "" : fact.substr(at + 1, fact.find(' ', at + 1) - at - 1);
}

// The place of an argument in the list that it is in: {"argument#5.", 1} for "argument#5.1".
std::pair<std::string, int> PlaceOf(const std::string& argument) {
  const size_t at = argument.find_last_of("#.") + 1;
  return {argument.substr(0, at), std::stoi(argument.substr(at))};
}

// Returns the place that the argument has in a version without the `later` ones.
std::string WithoutLater(const std::string& argument, const std::set<std::string>& later) {
  auto [list, index] = PlaceOf(argument);
  const auto skipped = std::ranges::count_if(later, [&, first = list, last = index](const std::string& other) {
    const auto [other_list, other_index] = PlaceOf(other);
    return other_list == first && other_index < last;
  });
  if (list.ends_with('.')) list = WithoutLater(list.substr(0, list.size() - 1), later) + ".";
  return list + std::to_string(index - static_cast<int>(skipped));
}

// Removes arguments of later versions and everything inside them, and numbers the others without them. A later argument
// has `since=` and a version of Redis or Valkey.
std::set<std::string> WithoutLaterArguments(const std::set<std::string>& facts) {
  std::set<std::string> later;
  for (const std::string& fact : facts) {
    const size_t at = fact.find(" since=");
    if (!ArgumentOf(fact).empty() && at != std::string::npos && fact.substr(at + 7) >= "7.4") {
      later.insert(ArgumentOf(fact));
    }
  }
  std::set<std::string> left;
  for (const std::string& fact : facts) {
    const std::string argument = ArgumentOf(fact);
    const bool is_later = std::ranges::any_of(
        later, [&argument](const std::string& one) { return argument == one || argument.starts_with(one + "."); });
    if (is_later) continue;
    std::string numbered = fact;
    if (!argument.empty()) numbered.replace(fact.find(argument), argument.size(), WithoutLater(argument, later));
    left.insert(std::move(numbered));
  }
  return left;
}

// Whether a container's fact is about a subcommand of a later version.
bool IsAboutLaterSubcommand(const std::string& fact, const CommandTable& table) {
  const size_t at = fact.find(" subcommand=");
  const Command* const named = at == std::string::npos ? nullptr : table.FindByFullName(fact.substr(at + 12));
  return named != nullptr && IsLater(*named);
}

// Whether a fact is about a subcommand that does not exist yet. docs/compatibility.md lists those; they are not wrong
// facts.
bool IsAboutMissingSubcommand(const std::string& fact, const CommandTable& table) {
  const size_t at = fact.find(" subcommand=");
  return at != std::string::npos && !table.FindByFullName(fact.substr(at + 12));
}

class CommandGolden : public testing::Test {
 protected:
  CommandGolden() : table_(CommandFamilies()) {}

  CommandTable table_;
};

TEST_F(CommandGolden, EveryCommandIsOneOfRedis) {
  const auto golden = FactsByCommand();
  table_.ForEach([&](const Command& command) {
    EXPECT_NE(golden.contains(command.full_name), IsLater(command)) << "Redis 7.2 has no command " << command.full_name;
  });
}

// Commands of Redis 7.2 that Respite lacks; docs/compatibility.md lists them as well. Remove a command here when it is
// added.
const std::set<std::string> kStillToCome = {};

TEST_F(CommandGolden, NoCommandIsMissing) {
  std::set<std::string> missing;
  for (const auto& [command, facts] : FactsByCommand())
    if (!table_.FindByFullName(command)) missing.insert(command);
  EXPECT_EQ(missing, kStillToCome);
}

void CompareFacts(const CommandTable& table, const Facts& golden) {
  size_t compared = 0;
  table.ForEach([&](const Command& command) {
    const auto expected = golden.find(command.full_name);
    if (expected == golden.end()) return;
    ++compared;
    std::set<std::string> ours = FactsOf(command);
    std::erase_if(ours, [&](const std::string& fact) { return CommandOfFact(fact) != command.full_name; });
    ours = WithoutLaterArguments(ours);
    for (const std::string& fact : expected->second)
      if (!ours.contains(fact) && !kAllowed.contains(fact) && !IsAboutMissingSubcommand(fact, table))
        ADD_FAILURE() << "Redis says: " << fact;
    for (const std::string& fact : ours)
      if (!expected->second.contains(fact) && !kAllowed.contains(fact) && !IsAboutLaterSubcommand(fact, table))
        ADD_FAILURE() << "we say:     " << fact;
  });
  EXPECT_GT(compared, 0u);
}

TEST_F(CommandGolden, EveryFactIsThatOfRedis) { CompareFacts(table_, FactsByCommand()); }

TEST(SentinelCommandGolden, ASentinelHasTheCommandsOfRedisSentinel) {
  const CommandTable table(std::make_shared<const CommandSet>(CommandFamilies(), Where::kSentinels));
  const Facts golden = FactsByCommand("sentinel_commands_7.2.txt");
  table.ForEach([&](const Command& command) {
    EXPECT_TRUE(IsLater(command) || golden.contains(command.full_name)) << command.full_name;
  });
  for (const auto& [name, facts] : golden) EXPECT_NE(table.FindByFullName(name), nullptr) << name;
  CompareFacts(table, golden);
}

TEST_F(CommandGolden, EveryCommandHasItsOwnSummary) {
  table_.ForEach([](const Command& command) {
    const std::string_view summary = command.Spec().summary;
    EXPECT_FALSE(summary.empty() || summary == "TODO") << command.full_name;
  });
}

TEST_F(CommandGolden, EveryExceptionIsStillNeeded) {
  std::set<std::string> golden;
  for (const std::string& line : GoldenLines("commands_7.2.txt")) golden.insert(line);
  std::set<std::string> ours;
  for (const Command* command : table_.Commands()) ours.merge(FactsOf(*command));
  for (const std::string& fact : kAllowed)
    EXPECT_NE(golden.contains(fact), ours.contains(fact)) << "no longer a difference: " << fact;
}

}  // namespace
}  // namespace respite
