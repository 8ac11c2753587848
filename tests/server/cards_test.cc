// Checks every command card against a whole server.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "server/catalogue/command_syntax.h"
#include "server/catalogue/key_finder.h"
#include "server/commands/families.h"
#include "tests/support/command_test.h"

namespace respite {
namespace {

constexpr char kModuleLoad[] = "ERR Error loading the extension. Please check the server logs.";
constexpr char kModuleUnload[] = "ERR Error unloading module: no such module with that name";
// EXEC itself was refused.
Refusal ExecAborted(Bytes reason) {
  if (reason.starts_with("ERR ")) reason.remove_prefix(4);
  return {"EXECABORT Transaction discarded because of: " + std::string(reason)};
}

std::vector<const Command*> AllCommands(TestServer& server) {
  std::vector<const Command*> all;
  server->services().env.commands.ForEach([&](const Command& command) { all.push_back(&command); });
  return all;
}

// The arguments that name a command: {"client", "list"}.
std::vector<std::string> NameOf(const Command& command) {
  if (command.parent == nullptr) return {std::string(command.name)};
  return {std::string(command.parent->name), std::string(command.name)};
}

// The name, followed by placeholder arguments up to `count` in all.
std::vector<std::string> WordsOf(const Command& command, size_t count) {
  std::vector<std::string> words = NameOf(command);
  while (words.size() < count) words.push_back("x");
  return words;
}

size_t ArityWords(const Command& command) { return static_cast<size_t>(std::abs(command.arity)); }

class Cards : public testing::Test {
 protected:
  TestServer server_{{.directives = {"enable-debug-command yes", "enable-module-command yes", "test-commands yes"}}};
  TestClient client_{server_};
};

TEST_F(Cards, ThereAreMany) { EXPECT_GT(AllCommands(server_).size(), 20u); }

TEST_F(Cards, EachIsInTheTablesOfItsServers) {
  for (const Where where : {Where::kDataServers, Where::kSentinels}) {
    const CommandTable table(std::make_shared<const CommandSet>(CommandFamilies(), where));
    size_t count = 0;
    for (const auto& family : CommandFamilies()) {
      for (const CommandCard& card : family) {
        if (card.spec->where != where && card.spec->where != Where::kEverywhere) continue;
        const std::string_view name = card.spec->syntax.substr(0, card.spec->syntax.find(' '));
        const std::string_view container = name.substr(0, name.find('|'));
        const Command* const command =
            card.spec->required_directive == nullptr
                ? table.FindByFullName(name)
                : table.FindOptionalSubcommand(*table.Find(container), name.substr(container.size() + 1));
        ASSERT_NE(command, nullptr) << name << ": its container is missing";
        EXPECT_EQ(command->card, &card) << name << " has two cards";
        ++count;
      }
    }
    EXPECT_EQ(table.Size(), count);
  }
}

TEST_F(Cards, TooFewOrTooManyWordsAreRefusedByName) {
  for (const Command* command : AllCommands(server_)) {
    SCOPED_TRACE(command->full_name);
    std::string refusal = "ERR wrong number of arguments for '" + command->full_name + "' command";
    if (command->Spec().transaction == TransactionRole::kExecutes) refusal = ExecAborted(refusal).text;
    size_t names = NameOf(*command).size();
    if (ArityWords(*command) > names) {
      EXPECT_THAT(client_.Run(WordsOf(*command, ArityWords(*command) - 1)), Error(refusal));
    }
    // A container with more words, as BACKUP has it, has the words of a subcommand.
    if (command->arity > 0 && !command->IsContainer()) {
      EXPECT_THAT(client_.Run(WordsOf(*command, ArityWords(*command) + 1)), Error(refusal));
    }
  }
  EXPECT_TRUE(SnapshotOf(*server_).empty());
}

TEST_F(Cards, UnknownSubcommandsAreRefusedByName) {
  for (const Command* command : AllCommands(server_)) {
    if (!command->IsContainer()) continue;
    std::string name = ToUpper(command->name);
    EXPECT_THAT(client_.Run({command->name, "NoSuchThing", "x"}),
                Error("ERR unknown subcommand 'NoSuchThing'. Try " + name + " HELP."));
  }
}

TEST_F(Cards, ContainersHaveHelp) {
  for (const Command* command : AllCommands(server_)) {
    // Redis: these have subcommands, but no HELP.
    if (!command->IsContainer() || server_->services().env.commands.FindSubcommand(*command, "help") == nullptr)
      continue;
    SCOPED_TRACE(command->full_name);
    if (command->name == "cluster") continue;     // Redis: refuses even HELP without a cluster
    if (command->name == "json.debug") continue;  // Redis: its module has another form of HELP
    std::string name = ToUpper(command->name);
    TestReply help = client_.Run({command->name, "HELP"});
    ASSERT_GT(help.Size(), 2u);
    EXPECT_THAT(help[0], Simple(name + " <subcommand> [<arg> [value] [opt] ...]. Subcommands are:"));
    EXPECT_THAT(help[help.Size() - 2], Simple("HELP"));
    EXPECT_THAT(help[help.Size() - 1], Simple("    Print this help."));
  }
}

TEST_F(Cards, SyntaxParsesAndAgreesWithTheName) {
  for (const Command* command : AllCommands(server_)) {
    SCOPED_TRACE(command->full_name);
    CommandSyntax syntax = ParseSyntax(command->Spec().syntax);
    EXPECT_TRUE(syntax.valid) << "at " << syntax.error_offset;
    EXPECT_EQ(ToLower(syntax.name), ToLower(command->name));
    EXPECT_EQ(ToLower(syntax.container), command->parent == nullptr ? "" : command->parent->name);
    EXPECT_NE(command->arity, 0);
  }
}

TEST_F(Cards, EachHasASummaryOfItsOwn) {
  std::set<std::string> summaries;
  for (const Command* command : AllCommands(server_)) {
    SCOPED_TRACE(command->full_name);
    const CommandSpec& spec = command->Spec();
    EXPECT_GT(spec.summary.size(), 10u);
    EXPECT_NE(spec.summary.back(), ' ');
    // All containers may have the same summary for HELP.
    if (command->name != "help") {
      EXPECT_TRUE(summaries.insert(std::string(spec.summary)).second) << spec.summary;
    }
    const bool is_of_redis = spec.protection != Protection::kTestCommands;
    EXPECT_NE(spec.since.IsEmpty(), is_of_redis);
  }
}

// Commands with `refuses` always fail, and commands that reply "there is no …" have `refuses`.
TEST_F(Cards, CommandsThatOnlyRefuseHaveAReason) {
  const std::set<std::string> absences = {kModuleLoad, kModuleUnload};
  for (const Command* command : AllCommands(server_)) {
    if (command->card->run == nullptr || command->Is(kBlocking) || command->name == "shutdown") continue;
    SCOPED_TRACE(command->full_name);
    std::vector<std::string> words = NameOf(*command);
    while (words.size() < ArityWords(*command)) words.push_back("1");
    TestServer server({.directives = {"enable-debug-command yes", "enable-module-command yes", "test-commands yes"}});
    TestClient client(server);  // a new client, since CLIENT PAUSE pauses all others
    const TestReply reply = client.Run(words);
    const bool misses = reply.HasValue() && reply.tree->IsError() && absences.contains(reply.Text());
    EXPECT_EQ(misses, !command->card->refuses.empty());
  }
}

TEST_F(Cards, EachCommandRuns) {
  for (const Command* command : AllCommands(server_)) {
    EXPECT_TRUE(command->card->run != nullptr || command->IsContainer()) << command->full_name;
  }
}

// A crash report, which other people may read, shows the arguments that cannot be secrets.
TEST_F(Cards, WordsThatMayBePasswordsAreNotPublic) {
  std::map<std::string, int> with_secrets;
  for (const Command* command : AllCommands(server_)) {
    const int public_words = command->Spec().public_words;
    if (public_words != CommandSpec::kAllWords) with_secrets[std::string(command->full_name)] = public_words;
  }
  const std::map<std::string, int> expected = {
      {"auth", 1}, {"hello", 2}, {"acl|setuser", 3}, {"config|set", 3}, {"migrate", 6}};
  EXPECT_EQ(with_secrets, expected);
}

// In these requests a cluster node checks only the argument at only_key_index.
TEST_F(Cards, TheOnlyKeyIsTheOnlyKey) {
  std::set<std::string> with_hook;
  for (const Command* command : AllCommands(server_)) {
    if (command->only_key_index == 0) continue;
    SCOPED_TRACE(command->full_name);
    const std::vector<std::string> words = WordsOf(*command, std::max<size_t>(ArityWords(*command), 8));
    const KeyList keys = KeyPositions(command->Spec(), std::vector<Bytes>(words.begin(), words.end()));
    ASSERT_EQ(keys.Size(), 1u);
    EXPECT_EQ(keys[0].index, command->only_key_index);
    if (command->Spec().find_keys != nullptr) with_hook.insert(command->full_name);
  }
  EXPECT_EQ(with_hook, (std::set<std::string>{"bitfield", "delex", "set"}))
      << "does the hook of the new one find other keys?";
}

TEST_F(Cards, NothingBothReadsAndWrites) {
  for (const Command* command : AllCommands(server_)) {
    EXPECT_FALSE(command->Is(kWrite) && command->Is(kReadOnly)) << command->full_name;
  }
}

// Sends every keyword that a read-only command could take, in several counts. Most requests are refused, some run; none
// may change data.
TEST_F(Cards, ReadOnlyCommandsChangeNothing) {
  for (const char* line : {"SET x text", "SET 1 5", "SET timed v PX 100000", "SET y 10"}) client_.Run(line);
  size_t journaled = server_.journal().Records().size();
  Snapshot before = SnapshotOf(*server_);
  Random random(99);
  const std::vector<std::string> words = {"x",      "y", "1",     "0",     "-1", "timed",
                                          "absent", "*", "MATCH", "COUNT", "10", "LEN"};
  for (const Command* command : AllCommands(server_)) {
    if (!command->Is(kReadOnly)) continue;
    SCOPED_TRACE(command->full_name);
    for (int round = 0; round < 50; ++round) {
      std::vector<std::string> request = NameOf(*command);
      size_t wanted = ArityWords(*command) + (command->arity < 0 ? random.Below(4) : 0);
      while (request.size() < wanted) request.push_back(words[random.Below(words.size())]);
      ASSERT_TRUE(client_.Run(request).HasValue()) << testing::PrintToString(request);
    }
    ASSERT_EQ(SnapshotDifference(before, SnapshotOf(*server_)), "");
    ASSERT_EQ(server_.journal().Records().size(), journaled);
  }
}

// A refused write must not have changed anything.
TEST_F(Cards, RefusedWritesChangeNothing) {
  client_.Run("SET x text");
  client_.Run("SET timed v PX 100000");
  Random random(7);
  const std::vector<std::string> words = {"x", "timed", "1", "-1", "EX", "PX", "NX", "XX", "GET", "0", "nan", "absent"};
  for (const Command* command : AllCommands(server_)) {
    if (!command->Is(kWrite)) continue;
    SCOPED_TRACE(command->full_name);
    for (int round = 0; round < 200; ++round) {
      Snapshot before = SnapshotOf(*server_);
      std::vector<std::string> request = NameOf(*command);
      size_t wanted = ArityWords(*command) + (command->arity < 0 ? random.Below(5) : 0);
      while (request.size() < wanted) request.push_back(words[random.Below(words.size())]);
      TestReply reply = client_.Run(request);
      if (!reply.HasValue() || !reply.tree->IsError()) continue;
      ASSERT_EQ(SnapshotDifference(before, SnapshotOf(*server_)), "") << testing::PrintToString(request);
    }
  }
  ExpectReplayMatches(server_);
}

}  // namespace
}  // namespace respite
