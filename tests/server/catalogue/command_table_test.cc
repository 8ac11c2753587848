#include "server/catalogue/command_table.h"

#include <gtest/gtest.h>

#include <array>
#include <set>
#include <string>
#include <vector>

namespace respite {
namespace {

struct Get {
  static constexpr CommandSpec spec = {.syntax = "GET key", .flags = kReadOnly | kFast, .keys = {Key(1, kKeyRO)}};
  static void Run(Call&) {}
};
struct LongName {
  static constexpr CommandSpec spec = {.syntax = "GEORADIUSBYMEMBER_RO key member", .flags = kReadOnly};
  static void Run(Call&) {}
};
struct ClientKill {
  static constexpr CommandSpec spec = {
      .syntax = "CLIENT|KILL filter...", .group = CommandGroup::kServer, .flags = kAdmin};
  static void Run(Call&) {}
};
struct ClientId {
  static constexpr CommandSpec spec = {.syntax = "CLIENT|ID"};
  static void Run(Call&) {}
};
struct Client {
  static constexpr CommandSpec spec = {.syntax = "CLIENT", .arity = -2};
};
struct ClientLog {
  static constexpr CommandSpec spec = {.syntax = "CLIENTLOG", .arity = -2};
};
struct ClientLogGet {
  static constexpr CommandSpec spec = {.syntax = "CLIENTLOG|GET count:integer"};
  static void Run(Call&) {}
};
constexpr auto kLogs = Family<ClientLogGet, ClientLog>();
constexpr auto kStrings = Family<Get, LongName, ClientKill>();
constexpr auto kConnection = Family<Client, ClientId>();
const std::array<std::span<const CommandCard>, 2> kFamilies = {kStrings, kConnection};

class CommandTableTest : public testing::Test {
 protected:
  CommandTable table_{kFamilies};
};

TEST_F(CommandTableTest, FindsNamesInAnyCase) {
  ASSERT_NE(table_.Find("get"), nullptr);
  EXPECT_EQ(table_.Find("GeT"), table_.Find("get"));
  EXPECT_EQ(table_.Find("georadiusByMember_RO")->full_name, "georadiusbymember_ro");
  EXPECT_EQ(table_.Find("client")->card->run, nullptr);
}

TEST_F(CommandTableTest, FindsNothingElse) {
  for (Bytes name : {Bytes(""), Bytes("ge"), Bytes("gett"), Bytes("get\0", 4), Bytes("\x07\x05\x14"), Bytes("g\xC5t"),
                     Bytes("georadiusByMemXer_RO"), Bytes("georadiusXXmember_ro"), Bytes("client|id")})
    EXPECT_EQ(table_.Find(name), nullptr) << name;
}

TEST_F(CommandTableTest, FoldsOnlyLetters) {
  // Bytes that differ from a letter or sign by 0x20 without being its upper or lower case.
  for (int byte = 0; byte < 256; ++byte) {
    const char c = static_cast<char>(byte);
    const std::string name = {'g', 'e', c};
    EXPECT_EQ(table_.Find(name) != nullptr, c == 't' || c == 'T') << byte;
    std::string long_name = "georadiusbymember_ro";
    long_name[17] = c;
    EXPECT_EQ(table_.Find(long_name) != nullptr, c == '_') << byte;
  }
}

TEST_F(CommandTableTest, FindsSubcommands) {
  const Command* client = table_.Find("CLIENT");
  EXPECT_EQ(table_.FindSubcommand(*client, "Kill")->full_name, "client|kill");
  EXPECT_EQ(table_.FindSubcommand(*client, "Kill")->name, "kill");
  EXPECT_EQ(table_.FindSubcommand(*client, "Kill")->parent, client);
  EXPECT_EQ(table_.FindSubcommand(*client, "kil"), nullptr);
  EXPECT_EQ(table_.FindByFullName("CLIENT|ID"), table_.FindSubcommand(*client, "id"));
  EXPECT_EQ(table_.FindByFullName("client"), client);
  EXPECT_EQ(table_.FindByFullName("client|"), nullptr);
  EXPECT_EQ(table_.FindByFullName("get|id"), nullptr);
}

TEST_F(CommandTableTest, ChecksArity) {
  EXPECT_TRUE(table_.Find("get")->FitsArity(2));
  EXPECT_FALSE(table_.Find("get")->FitsArity(3));
  const Command* kill = table_.FindByFullName("client|kill");
  EXPECT_FALSE(kill->FitsArity(2));
  EXPECT_TRUE(kill->FitsArity(3));
  EXPECT_TRUE(kill->FitsArity(9));
}

TEST_F(CommandTableTest, ImpliesCategories) {
  EXPECT_EQ(table_.Find("get")->categories, uint32_t{kAclKeyspace | kAclRead | kAclFast})
      << "the group of a card is kGeneric by default";
  EXPECT_EQ(table_.FindByFullName("client|kill")->categories, uint32_t{kAclAdmin | kAclDangerous | kAclSlow});
  EXPECT_EQ(AclCategoryByName("Dangerous"), uint32_t{kAclDangerous});
  EXPECT_EQ(AclCategoryByName("danger"), 0u);
}

TEST_F(CommandTableTest, KeepsTheOrderOfTheFamiliesAndSortsSubcommands) {
  std::vector<std::string> names;
  table_.ForEach([&](const Command& command) { names.push_back(command.full_name); });
  EXPECT_EQ(names, (std::vector<std::string>{"get", "georadiusbymember_ro", "client", "client|id", "client|kill"}));
}

TEST_F(CommandTableTest, KnowsContainersWhoseNamesBeginAlike) {
  const std::array<std::span<const CommandCard>, 3> families = {kLogs, kStrings, kConnection};
  CommandTable table(families);
  std::vector<std::string> names;
  table.ForEach([&](const Command& command) { names.push_back(command.full_name); });
  EXPECT_EQ(names, (std::vector<std::string>{"clientlog", "clientlog|get", "get", "georadiusbymember_ro", "client",
                                             "client|id", "client|kill"}));
}

TEST_F(CommandTableTest, CountsForEachCommandApart) {
  std::set<uint32_t> ids;
  table_.ForEach([&](const Command& command) { ids.insert(command.id); });
  EXPECT_EQ(ids, (std::set<uint32_t>{0, 1, 2, 3, 4}));
  table_.StatsOf(*table_.Find("get")).calls = 3;
  EXPECT_EQ(table_.StatsOf(*table_.Find("client")).calls, 0u);
  table_.ResetStats();
  EXPECT_EQ(table_.StatsOf(*table_.Find("get")).calls, 0u);
}

TEST_F(CommandTableTest, Renames) {
  const Command* get = table_.Find("get");
  EXPECT_EQ(table_.Rename("GET", "Fetch"), RenameResult::kDone);
  EXPECT_EQ(table_.Find("get"), nullptr);
  EXPECT_EQ(table_.Find("fetch"), get);
  EXPECT_EQ(get->full_name, "get");
  EXPECT_EQ(table_.Commands().size(), 3u);
  EXPECT_EQ(table_.Rename("get", "other"), RenameResult::kNoSuchCommand);
  EXPECT_EQ(table_.Rename("fetch", "client"), RenameResult::kTargetExists);
  EXPECT_EQ(table_.Rename("fetch", "FETCH"), RenameResult::kDone);
  EXPECT_EQ(table_.Find("fetch"), get);
}

TEST_F(CommandTableTest, DisablesWhatIsRenamedToNothing) {
  EXPECT_EQ(table_.Rename("client", ""), RenameResult::kDone);
  EXPECT_EQ(table_.Find("client"), nullptr);
  EXPECT_EQ(table_.FindByFullName("client|id"), nullptr);
  EXPECT_EQ(table_.Commands().size(), 2u);
  EXPECT_NE(table_.Find("get"), nullptr);
}

}  // namespace
}  // namespace respite
