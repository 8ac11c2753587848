// Checks every command card under ACL rules: name, categories, keys and channels.
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <set>
#include <string>
#include <vector>

#include "base/random.h"
#include "base/str_cat.h"
#include "server/catalogue/command_syntax.h"
#include "server/clients/acl/selector.h"
#include "tests/support/command_test.h"

namespace respite {
namespace {

std::vector<Bytes> AclViewsOf(const std::vector<std::string>& words) { return {words.begin(), words.end()}; }

std::vector<std::string> AclNameOf(const Command& command) {
  if (command.parent == nullptr) return {std::string(command.name)};
  return {std::string(command.parent->name), std::string(command.name)};
}

// The shortest request that the usage line allows, with keys k1, k2 … and 1 for everything else.
class ShortRequest {
 public:
  explicit ShortRequest(const Command& command) : words_(AclNameOf(command)) {
    const CommandSyntax syntax = ParseSyntax(command.Spec().syntax);
    AddAll(syntax.Arguments());
  }
  std::vector<std::string> Words() const { return words_; }

 private:
  void AddAll(std::span<const SyntaxArgument> nodes) {
    ForEachArgument(nodes, [&](const SyntaxArgument& node, std::span<const SyntaxArgument> children) {
      const bool is_plain_key = node.type == ArgumentType::kKey && !node.HasToken();
      if (!node.optional || is_plain_key) Add(node, children);
    });
  }
  void Add(const SyntaxArgument& node, std::span<const SyntaxArgument> children) {
    if (node.HasToken()) words_.emplace_back(node.token);
    if (node.type == ArgumentType::kOneOf) {
      AddAll(children.first(children.front().size));
    } else if (node.type == ArgumentType::kBlock) {
      AddAll(children);
    } else if (node.type == ArgumentType::kKey) {
      words_.push_back(StrCat("k", ++keys_));
    } else if (node.type != ArgumentType::kPureToken) {
      words_.emplace_back("1");
    }
  }

  std::vector<std::string> words_;
  int keys_ = 0;
};

class AclCards : public testing::Test {
 protected:
  void ForEachCommand(const std::function<void(const Command&)>& visit) {
    server_->services().env.commands.ForEach([&](const Command& command) {
      SCOPED_TRACE(command.full_name);
      visit(command);
    });
  }
  Selector SelectorOf(std::initializer_list<std::string> rules) {
    Selector selector(server_->services().env.commands);
    for (const std::string& rule : rules) {
      const char* refused = selector.Apply(rule);
      EXPECT_EQ(refused, nullptr) << rule << ": " << refused;
    }
    return selector;
  }
  AclVerdict Check(const Selector& selector, const Command& command, const std::vector<std::string>& words) {
    const std::vector<Bytes> views = AclViewsOf(words);
    AclRequest request(command, views, DatabaseOfClient{});
    return selector.Check(request);
  }
  bool AllowsCommand(const Selector& selector, const Command& command) {
    return Check(selector, command, AclNameOf(command)).denial != AclDenial::kCommand;
  }
  // The names of all commands that the selector allows, except those that every user may run.
  std::set<std::string> AllowedBy(const Selector& selector) {
    std::set<std::string> allowed;
    server_->services().env.commands.ForEach([&](const Command& command) {
      if (!command.Is(kNoAuth) && AllowsCommand(selector, command)) allowed.insert(command.full_name);
    });
    return allowed;
  }
  // The names of a command and all its subcommands.
  std::set<std::string> FamilyOf(const Command& command) {
    std::set<std::string> names;
    if (!command.Is(kNoAuth)) names.insert(command.full_name);
    for (const Command& sub : command.subcommands) names.insert(sub.full_name);
    return names;
  }

  TestServer server_{{.directives = {"enable-debug-command yes", "enable-module-command yes", "test-commands yes"}}};
  TestClient client_{server_};
};

std::set<std::string> Without(std::set<std::string> all, const std::set<std::string>& some) {
  for (const std::string& name : some) all.erase(name);
  return all;
}

TEST_F(AclCards, AnEmptySelectorAllowsOnlyLoginCommands) {
  const Selector nothing(server_->services().env.commands);
  EXPECT_TRUE(AllowedBy(nothing).empty());
  ForEachCommand([&](const Command& command) { EXPECT_EQ(AllowsCommand(nothing, command), command.Is(kNoAuth)); });
}

TEST_F(AclCards, ANameAllowsTheCommandWithItsSubcommandsAndNothingElse) {
  ForEachCommand([&](const Command& command) {
    EXPECT_EQ(AllowedBy(SelectorOf({"+" + command.full_name})), FamilyOf(command));
    EXPECT_EQ(AllowedBy(SelectorOf({"+" + ToUpper(command.full_name)})), FamilyOf(command));
  });
}

TEST_F(AclCards, ANameTakesAwayTheCommandWithItsSubcommandsAndNothingElse) {
  const std::set<std::string> all = AllowedBy(SelectorOf({"+@all"}));
  EXPECT_GT(all.size(), 300u);
  ForEachCommand([&](const Command& command) {
    EXPECT_EQ(AllowedBy(SelectorOf({"allcommands", "-" + command.full_name})), Without(all, FamilyOf(command)));
  });
}

TEST_F(AclCards, CategoriesAllowAndTakeAwayWhatAclCatLists) {
  const std::set<std::string> all = AllowedBy(SelectorOf({"+@all"}));
  std::set<std::string> with_category;
  EXPECT_EQ(client_.Run("ACL CAT").Size(), 21u) << "those of Redis 7.2";
  for (const std::string_view name_of_category : AclCategoryNames()) {
    const std::string category(name_of_category);
    SCOPED_TRACE(category);
    std::set<std::string> members;
    for (const std::string& name : client_.Run("ACL CAT " + category).Texts()) members.insert(name);
    const std::set<std::string> given = AllowedBy(SelectorOf({"+@" + category}));
    EXPECT_FALSE(given.empty());
    EXPECT_EQ(Without(given, members), std::set<std::string>());
    EXPECT_EQ(AllowedBy(SelectorOf({"+@all", "-@" + category})), Without(all, given));
    with_category.insert(given.begin(), given.end());
  }
  // Commands of modules have names in capitals, and no categories.
  std::set<std::string> in_modules;
  std::ranges::copy_if(all, std::inserter(in_modules, in_modules.end()),
                       [](const std::string& name) { return name[0] <= 'Z'; });
  EXPECT_EQ(with_category, Without(all, in_modules));
}

TEST_F(AclCards, DescriptionsMakeTheSameSelector) {
  ForEachCommand([&](const Command& command) {
    const std::string& name = command.full_name;
    for (const std::string first : {"+@all", "-@all", "+@read", "-@write"}) {
      for (const std::string& second : {"+" + name, "-" + name}) {
        const Selector said = SelectorOf({first, second, "~a*", "%R~b*", "&c"});
        Selector again(server_->services().env.commands);
        const std::string where = first + " " + second;
        for (const std::string& rule : said.Rules()) ASSERT_EQ(again.Apply(rule), nullptr) << where << ": " << rule;
        EXPECT_EQ(AllowedBy(again), AllowedBy(said)) << where;
        EXPECT_EQ(again.Rules(), said.Rules()) << where;
      }
    }
  });
}

TEST_F(AclCards, KeysAreCheckedByTheAccessThatTheCardNames) {
  const Selector reading = SelectorOf({"+@all", "%R~k*"});
  const Selector writing = SelectorOf({"+@all", "%W~k*"});
  const Selector both = SelectorOf({"+@all", "%R~k*", "%W~*"});
  const Selector either = SelectorOf({"+@all", "~k*"});
  const Selector others = SelectorOf({"+@all", "~other"});
  size_t with_keys = 0;
  ForEachCommand([&](const Command& command) {
    if (!MayHaveKeys(command.Spec()) || command.IsContainer()) return;
    const std::vector<std::string> words = ShortRequest(command).Words();
    const KeyList keys = KeyPositions(command.Spec(), AclViewsOf(words));
    ASSERT_FALSE(keys.IsEmpty()) << testing::PrintToString(words);
    ++with_keys;
    const auto needs = [&](int flags) {
      return std::any_of(keys.begin(), keys.end(), [&](const KeyRef& key) { return (key.flags & flags) != 0; });
    };
    const bool reads = needs(kKeyAccess);
    const bool writes = needs(kKeyInsert | kKeyUpdate | kKeyDelete);
    EXPECT_EQ(Check(reading, command, words).IsAllowed(), !writes);
    EXPECT_EQ(Check(writing, command, words).IsAllowed(), !reads);
    // Redis: a single pattern must allow both; two patterns with half of the access each do not.
    const bool one_key_needs_both = std::any_of(keys.begin(), keys.end(), [](const KeyRef& key) {
      return (key.flags & kKeyAccess) != 0 && (key.flags & (kKeyInsert | kKeyUpdate | kKeyDelete)) != 0;
    });
    EXPECT_EQ(Check(both, command, words).IsAllowed(), !one_key_needs_both);
    EXPECT_TRUE(Check(either, command, words).IsAllowed());
    const AclVerdict refused = Check(others, command, words);
    if (!reads && !writes) return;  // uses no value and no existence: any matching pattern suffices
    EXPECT_EQ(refused.denial, AclDenial::kKey);
    EXPECT_TRUE(words[refused.word].starts_with('k')) << testing::PrintToString(words);
  });
  EXPECT_GT(with_keys, 150u);
}

TEST_F(AclCards, ChannelsAreCheckedWhereverTheyStand) {
  const Selector none = SelectorOf({"+@all", "~*"});
  const Selector some = SelectorOf({"+@all", "~*", "&c*"});
  size_t with_channels = 0;
  ForEachCommand([&](const Command& command) {
    std::vector<std::string> words = AclNameOf(command);
    while (words.size() < 3) words.emplace_back("c*");
    const ChannelRange channels = FindChannelArguments(command, words.size());
    if (channels.first == 0) return;
    ++with_channels;
    EXPECT_TRUE(Check(some, command, words).IsAllowed());
    const AclVerdict refused = Check(none, command, words);
    EXPECT_EQ(refused.denial, AclDenial::kChannel);
    EXPECT_EQ(refused.word, 1u);
    words[1] = "d";
    EXPECT_EQ(Check(some, command, words).denial, AclDenial::kChannel);
  });
  EXPECT_EQ(with_channels, 5u);  // PUBLISH, SPUBLISH, SUBSCRIBE, PSUBSCRIBE, SSUBSCRIBE
}

// Users of a whole server that try every command.
class AclAttempts : public testing::Test {
 protected:
  AclAttempts() {
    for (const char* line :
         {"SET mine text", "SET theirs text", "SET theirs:timed v PX 100000", "RPUSH theirs:list a b",
          "HSET theirs:hash f 1", "SADD theirs:set a b", "ZADD theirs:zset 1 a", "XADD theirs:x 1-1 f v"})
      owner_.Run(line);
  }

  // Logs in as a user with these rules and sends every command many times, with random words.
  void TryEverythingAs(const std::string& rules, uint64_t seed, const std::function<void()>& check) {
    SCOPED_TRACE(StrCat("seed ", seed));
    owner_.Run("ACL SETUSER mallory on >secret " + rules);
    Random random(seed);
    server_->services().env.commands.ForEach([&](const Command& command) {
      // These end the connection or the server, or block.
      static const std::set<std::string> kLeft = {"shutdown", "debug", "monitor", "sync", "psync", "quit", "reset"};
      if (kLeft.contains(command.full_name) || command.Is(kPubSub) || command.Is(kBlocking)) return;
      TestClient mallory(server_);
      mallory.Run("AUTH mallory secret");
      for (int round = 0; round < 40; ++round) {
        const std::vector<std::string> request = RandomRequest(command, random);
        SCOPED_TRACE(testing::PrintToString(request));
        mallory.Run(request);
        if (mallory.Closed()) return;
        mallory.Run("DISCARD");
        check();
        if (HasFatalFailure() || HasNonfatalFailure()) return;
      }
    });
  }
  std::vector<std::string> RandomRequest(const Command& command, Random& random) {
    static const std::vector<std::string> kWords = {
        "mine", "theirs", "theirs:list", "theirs:hash", "theirs:set", "theirs:zset", "theirs:x", "1", "-1", "0",
        "a",    "f",      "STORE",       "GET",         "LIMIT",      "10",          "KEYS",     "*", "EX", "2"};
    if (random.Below(4) == 0) return ShortRequest(command).Words();
    std::vector<std::string> request = AclNameOf(command);
    const size_t least = static_cast<size_t>(std::abs(command.arity));
    const size_t wanted = least + (command.arity < 0 ? random.Below(5) : 0);
    while (request.size() < wanted) request.push_back(kWords[random.Below(kWords.size())]);
    return request;
  }

  TestServer server_;
  TestClient owner_{server_};
};

// Commands that change keys without naming them; a user with one of them may change every key.
constexpr char kNoneOfAllKeys[] = " -flushall -flushdb -swapdb -acl -config -select -debug";

TEST_F(AclAttempts, UsersWithReadAccessChangeNothing) {
  const Snapshot before = SnapshotOf(*server_);
  TryEverythingAs(std::string("+@all %R~*") + kNoneOfAllKeys, 11,
                  [&] { ASSERT_EQ(SnapshotDifference(before, SnapshotOf(*server_)), ""); });
}

TEST_F(AclAttempts, UsersChangeOnlyTheirKeys) {
  const auto theirs = [&] {
    Snapshot all = SnapshotOf(*server_);
    std::erase_if(all, [](const auto& item) { return item.first.find("theirs") == std::string::npos; });
    return all;
  };
  const Snapshot before = theirs();
  ASSERT_EQ(before.size(), 7u);
  TryEverythingAs(std::string("+@all ~mine ~k* ~1 ~0 ~a") + kNoneOfAllKeys, 12,
                  [&] { ASSERT_EQ(SnapshotDifference(before, theirs()), ""); });
}

TEST_F(AclAttempts, WithoutACommandNothingRuns) {
  owner_.Run("CONFIG RESETSTAT");
  TryEverythingAs("-@all ~* &*", 13, [] {});
  const std::set<std::string> by_owner_or_stranger = {"acl|setuser", "config|resetstat", "auth", "hello"};
  size_t refused = 0;
  const std::string stats = owner_.Run("INFO commandstats").Text();
  for (Bytes line : SplitOn(stats, '\n')) {
    if (!line.starts_with("cmdstat_")) continue;
    const std::string name(line.substr(8, line.find(':') - 8));
    if (by_owner_or_stranger.contains(name)) continue;
    EXPECT_NE(line.find(":calls=0,"), Bytes::npos) << line;
    ++refused;
  }
  EXPECT_GT(refused, 250u);
}

}  // namespace
}  // namespace respite
