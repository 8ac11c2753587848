// Intersections, unions and differences, compared with a model for sets of every encoding and relation of sizes.
#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "base/random.h"
#include "base/str_cat.h"
#include "tests/support/command_test.h"

namespace respite {

namespace {

using MemberSet = std::set<std::string>;

class SetAlgebraCommands : public CommandTest {
 protected:
  static MemberSet TextsOf(const TestReply& reply) {
    MemberSet members;
    for (const ReplyTree& member : reply.tree->children) EXPECT_TRUE(members.insert(member.text).second);
    return members;
  }
  std::vector<std::string> Line(Bytes command, const std::vector<std::string>& keys) {
    std::vector<std::string> words = {std::string(command)};
    words.insert(words.end(), keys.begin(), keys.end());
    return words;
  }
};
INSTANTIATE_TEST_SUITE_P(Resp, SetAlgebraCommands, BothVersions(), VersionName);

MemberSet Intersection(const std::vector<MemberSet>& sets) {
  MemberSet result = sets[0];
  for (const MemberSet& set : sets)
    std::erase_if(result, [&](const std::string& member) { return !set.contains(member); });
  return result;
}
MemberSet Union(const std::vector<MemberSet>& sets) {
  MemberSet result;
  for (const MemberSet& set : sets) result.insert(set.begin(), set.end());
  return result;
}
MemberSet Difference(const std::vector<MemberSet>& sets) {
  MemberSet result = sets[0];
  for (size_t i = 1; i < sets.size(); ++i)
    std::erase_if(result, [&](const std::string& member) { return sets[i].contains(member); });
  return result;
}

TEST_P(SetAlgebraCommands, AgreesWithAModel) {
  const uint64_t seed = SystemSeed();
  SCOPED_TRACE(testing::Message() << "seed " << seed);
  Random random(seed);
  std::map<std::string, MemberSet> model;
  for (const auto& [key, size, range, prefix] :
       {std::tuple("i", 40, 100, ""), std::tuple("I", 1500, 3000, ""), std::tuple("l", 60, 150, ""),
        std::tuple("t", 900, 1500, ""), std::tuple("T", 2000, 4000, "a-long-member:")}) {
    std::vector<std::string> words = {"SADD", key};
    for (int i = 0; i < size; ++i) words.push_back(StrCat(prefix, random.Below(static_cast<uint64_t>(range))));
    if (Bytes(key) == "l" || Bytes(key) == "t") words.push_back("text");
    Run(words);
    model[key] = MemberSet(words.begin() + 2, words.end());
  }
  model["none"] = {};
  const std::vector<std::string> keys = {"i", "I", "l", "t", "T", "none"};
  for (int round = 0; round < 40; ++round) {
    std::vector<std::string> chosen;
    std::vector<MemberSet> sets;
    for (uint64_t left = 1 + random.Below(4); left > 0; --left) {
      chosen.push_back(keys[random.Below(keys.size() - (random.Below(3) == 0 ? 0 : 1))]);
      sets.push_back(model[chosen.back()]);
    }
    SCOPED_TRACE(testing::PrintToString(chosen));
    const MemberSet common = Intersection(sets);
    EXPECT_EQ(TextsOf(Run(Line("SINTER", chosen))), common);
    EXPECT_EQ(TextsOf(Run(Line("SUNION", chosen))), Union(sets));
    EXPECT_EQ(TextsOf(Run(Line("SDIFF", chosen))), Difference(sets));
    std::vector<std::string> count = Line("SINTERCARD", chosen);
    count.insert(count.begin() + 1, std::to_string(chosen.size()));
    EXPECT_THAT(Run(count), Int(static_cast<int64_t>(common.size())));
    count.insert(count.end(), {"LIMIT", "5"});
    EXPECT_THAT(Run(count), Int(static_cast<int64_t>(std::min<size_t>(common.size(), 5))));
    for (const auto& [command, expected] :
         {std::pair("SUNIONCARD", Union(sets).size()), std::pair("SDIFFCARD", Difference(sets).size())}) {
      count[0] = command;
      EXPECT_THAT(Run(count), Int(static_cast<int64_t>(std::min<size_t>(expected, 5)))) << command;
      std::vector<std::string> all(count.begin(), count.end() - 2);
      EXPECT_THAT(Run(all), Int(static_cast<int64_t>(expected))) << command;
    }
    chosen.insert(chosen.begin(), "result");
    EXPECT_THAT(Run(Line("SINTERSTORE", chosen)), Int(static_cast<int64_t>(common.size())));
    EXPECT_EQ(TextsOf(Run("SMEMBERS result")), common);
    EXPECT_THAT(Run("EXISTS result"), Int(common.empty() ? 0 : 1));
    Run(Line("SUNIONSTORE", chosen));
    EXPECT_EQ(TextsOf(Run("SMEMBERS result")), Union(sets));
    Run(Line("SDIFFSTORE", chosen));
    EXPECT_EQ(TextsOf(Run("SMEMBERS result")), Difference(sets));
  }
}

TEST_P(SetAlgebraCommands, ResultsTakeRedisForms) {
  std::vector<std::string> words = {"SADD", "big"};
  for (int i = 0; i < 600; ++i) words.push_back(std::to_string(i));
  Run(words);
  words[1] = "bigger";
  Run(words);
  Run("SADD few 1 2 3 x");
  EXPECT_THAT(Run("SINTERSTORE d big few"), Int(3));
  EXPECT_THAT(Run("OBJECT ENCODING d"), Bulk("intset")) << "integers of a listpack";
  EXPECT_THAT(Run("SUNIONSTORE d few few"), Int(4));
  EXPECT_THAT(Run("OBJECT ENCODING d"), Bulk("listpack"));
  EXPECT_THAT(Run("SINTERSTORE d big bigger"), Int(600));
  EXPECT_THAT(Run("OBJECT ENCODING d"), Bulk("hashtable"));
  Run("CONFIG SET set-max-intset-entries 1000");
  EXPECT_THAT(Run("SINTERSTORE d big bigger"), Int(600));
  EXPECT_THAT(Run("OBJECT ENCODING d"), Bulk("intset")) << "integers of a table";
  EXPECT_THAT(Run("SDIFFSTORE d few big"), Int(1));
  EXPECT_THAT(Run("OBJECT ENCODING d"), Bulk("listpack"));
}

TEST_P(SetAlgebraCommands, StoringReplacesAnyValue) {
  Run("SADD a 1 2");
  Run("SET d text EX 100");
  EXPECT_THAT(Run("SUNIONSTORE d a"), Int(2));
  EXPECT_THAT(Run("TTL d"), Int(-1));
  EXPECT_THAT(Run("SUNIONSTORE a a d"), Int(2)) << "the destination is a source";
  EXPECT_THAT(Run("SINTERSTORE d a none"), Int(0));
  EXPECT_THAT(Run("EXISTS d"), Int(0));
  const auto effects = Journaled().size();
  EXPECT_THAT(Run("SINTERSTORE d a none"), Int(0));
  EXPECT_EQ(Journaled().size(), effects) << "nothing was there to delete";
}

TEST_P(SetAlgebraCommands, Refusals) {
  Run("SET str x");
  Run("SADD s 1");
  for (const char* line : {"SINTER none str", "SUNION s str", "SDIFF s str", "SINTERSTORE d none str",
                           "SUNIONSTORE d str", "SDIFFSTORE d str", "SINTERCARD 2 none str"})
    EXPECT_THAT(Run(line), ErrorStartsWith("WRONGTYPE ")) << line;
  for (const char* line : {"SUNIONCARD 2 s str", "SDIFFCARD 2 s str"})
    EXPECT_THAT(Run(line), ErrorStartsWith("WRONGTYPE ")) << line;
  EXPECT_THAT(Run("SDIFFCARD 1 s APPROX"), Error("ERR syntax error"));
  EXPECT_THAT(Run("SUNIONCARD 2 s none APPROX LIMIT 5"), Int(1));
  EXPECT_THAT(Run("SINTERCARD 0 s"), Error("ERR numkeys should be greater than 0"));
  EXPECT_THAT(Run("SINTERCARD x s"), Error("ERR numkeys should be greater than 0"));
  EXPECT_THAT(Run("SINTERCARD 2 s"), Error("ERR Number of keys can't be greater than number of args"));
  EXPECT_THAT(Run("SINTERCARD 1 s LIMIT -1"), Error("ERR LIMIT can't be negative"));
  EXPECT_THAT(Run("SINTERCARD 1 s LIMIT"), Error("ERR syntax error"));
  EXPECT_THAT(Run("SINTERCARD 1 s WHAT 1"), Error("ERR syntax error"));
}

TEST_P(SetAlgebraCommands, SUnionCardEstimates) {
  for (int i = 0; i < 5000; ++i) {
    Run(StrCat("SADD a ", i));
    Run(StrCat("SADD b member:", i, " ", i));
  }
  const int64_t estimate = Run("SUNIONCARD 2 a b APPROX").Integer();
  EXPECT_NEAR(static_cast<double>(estimate), 10'000, 400) << "the standard error is 81";
  EXPECT_THAT(Run("SUNIONCARD 2 a b"), Int(10'000));
  EXPECT_THAT(Run("SUNIONCARD 2 a b LIMIT 100 APPROX"), Int(100));
}

}  // namespace

}  // namespace respite
