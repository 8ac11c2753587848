// The commands of vector sets. Replies and error texts are those of Redis 8.6.3, except where a comment says otherwise.
#include <algorithm>
#include <cstring>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "base/str_cat.h"
#include "tests/support/command_test.h"

namespace respite {
namespace {

class VectorSetCommands : public CommandTest {
 protected:
  VectorSetCommands() : CommandTest({"enable-debug-command yes"}) {}

  static ReplyMatcher Yes() { return Bool(true); }
  static ReplyMatcher No() { return Bool(false); }
  std::vector<std::string> Names(Bytes line) {
    std::vector<std::string> names;
    const TestReply reply = Run(line);
    for (size_t i = 0; i < reply.Size(); ++i) names.push_back(reply[i].Text());
    return names;
  }
  double Score(Bytes line) { return std::stod(Run(line)[1].Text()); }
  static std::string Blob(std::vector<float> numbers) {
    return {reinterpret_cast<const char*>(numbers.data()), numbers.size() * sizeof(float)};
  }
};
INSTANTIATE_TEST_SUITE_P(Resp, VectorSetCommands, BothVersions(), VersionName);

using Texts = std::vector<std::string>;

constexpr char kBadVector[] = "ERR invalid vector specification";
constexpr char kBadOption[] = "ERR invalid option after element";
constexpr char kOtherQuantisation[] = "ERR asked quantization mismatch with existing vector set";
constexpr char kOtherM[] = "ERR asked M value mismatch with existing vector set";

TEST_P(VectorSetCommands, AddAndDescribe) {
  EXPECT_THAT(Run("VADD v VALUES 3 1 2 3 a"), Yes());
  EXPECT_THAT(Run("VADD v VALUES 3 1 2 3 a"), No());
  EXPECT_THAT(Run("VADD v VALUES 3 1 2 4 a CAS"), No());
  EXPECT_THAT(Run({"VADD", "v", "FP32", Blob({1, 0, 0}), "b"}), Yes());
  EXPECT_THAT(Run("vadd v values 3 0 0 0 zero"), Yes());
  EXPECT_THAT(Run({"VADD", "v", "VALUES", "3", "1", "1", "1", ""}), Yes());
  EXPECT_THAT(Run("VCARD v"), Int(4));
  EXPECT_THAT(Run("VCARD none"), Int(0));
  EXPECT_THAT(Run("VDIM v"), Int(3));
  EXPECT_THAT(Run("VDIM none"), Error("ERR key does not exist"));
  EXPECT_THAT(Run("VISMEMBER v a"), Yes());
  EXPECT_THAT(Run("VISMEMBER v x"), No());
  EXPECT_THAT(Run("VISMEMBER none a"), No());
  EXPECT_THAT(Run("TYPE v"), Simple("vectorset"));
  EXPECT_THAT(Run("OBJECT ENCODING v"), Bulk("raw"));
  EXPECT_EQ(Names("VRANGE v - +"), Texts({"", "a", "b", "zero"}));
  const TestReply info = Run("VINFO v");
  EXPECT_EQ(info[0].Text(), "quant-type");
  EXPECT_EQ(info[1].Text(), "int8");
  EXPECT_THAT(info[3], Int(16));
  EXPECT_THAT(info[5], Int(3));
  EXPECT_THAT(info[9], Int(4));
  EXPECT_THAT(info[17], Int(6));  // each VADD gives the vector a number
  EXPECT_THAT(Run("VINFO none"), NilArray());
}

TEST_P(VectorSetCommands, RefusesWrongVectors) {
  for (const char* line :
       {"VADD v VALUES 0 b", "VADD v VALUES -1 b", "VADD v VALUES x 1 b", "VADD v VALUES 2147483648 1 b",
        "VADD v VALUES 9223372036854775808 1 b", "VADD v VALUES 65537 1 b", "VADD v VALUES 3 1 2",
        "VADD v VALUES 3 1 2 x b", "VADD v VALUES 3 1 2 nan b", "VADD v FP32 abc b", "VADD v FOO 3 1 2 3 b",
        "VADD v REDUCE 0 VALUES 2 1 2 b", "VADD v REDUCE x VALUES 2 1 2 b", "VADD v REDUCE 3 VALUES 2 1 2 b",
        "VADD v NOQUANT VALUES 2 1 2 b"}) {
    EXPECT_THAT(Run(line), Error(kBadVector)) << line;
  }
  EXPECT_THAT(Run({"VADD", "v", "FP32", "", "b"}), Error(kBadVector));
  // Redis accepts these, and then has distances that are no numbers.
  EXPECT_THAT(Run("VADD v VALUES 3 1 2 inf b"), Error(kBadVector));
  EXPECT_THAT(Run("VADD v VALUES 3 1 2 1e39 b"), Error(kBadVector));
  EXPECT_THAT(Run({"VADD", "v", "FP32", Blob({1, std::stof("nan")}), "b"}), Error(kBadVector));
  EXPECT_THAT(Run("VADD v VALUES 3 1 2 3"), Error("ERR wrong number of arguments for 'VADD' command"));
  EXPECT_THAT(Run("VADD v"), Error("ERR wrong number of arguments for 'VADD' command"));
  EXPECT_THAT(Run("EXISTS v"), Int(0));
}

TEST_P(VectorSetCommands, RefusesOtherPropertiesThanThoseOfTheSet) {
  Run("VADD v VALUES 3 1 2 3 a M 20");
  EXPECT_THAT(Run("VADD v VALUES 3 1 2 3 b"), Error(kOtherM));
  EXPECT_THAT(Run("VADD v VALUES 3 1 2 3 b M 20 NOQUANT"), Error(kOtherQuantisation));
  EXPECT_THAT(Run("VADD v VALUES 2 1 2 b M 20 BIN"), Error(kOtherQuantisation));
  EXPECT_THAT(Run("VADD v VALUES 2 1 2 b M 20"), Error("ERR Vector dimension mismatch - got 2 but set has 3"));
  EXPECT_THAT(Run("VADD v REDUCE 2 VALUES 3 1 2 3 b M 20"),
              Error("ERR cannot add projection to existing set without projection"));
  EXPECT_THAT(Run("VADD v VALUES 3 1 2 3 b FOO"), Error(kBadOption));
  EXPECT_THAT(Run("VADD v VALUES 3 1 2 3 b EF"), Error(kBadOption));
  EXPECT_THAT(Run("VADD v VALUES 3 1 2 3 b SETATTR"), Error(kBadOption));
  for (const char* ef : {"0", "-1", "x", "1000001", "1000000000", "9223372036854775808"})
    EXPECT_THAT(Run(StrCat("VADD v VALUES 3 1 2 3 b EF ", ef)), Error("ERR invalid EF"));
  for (const char* m : {"0", "-1", "3", "x", "4097"})
    EXPECT_THAT(Run(StrCat("VADD v VALUES 3 1 2 3 b M ", m)), Error("ERR invalid M"));
  EXPECT_THAT(Run("VADD v VALUES 3 1 2 3 a M 20 EF 1000000 Q8 Q8"), No());
  EXPECT_THAT(Run("VCARD v"), Int(1));
}

TEST_P(VectorSetCommands, StoredVectors) {
  Run("VADD v VALUES 3 1 2 3 a");
  const TestReply raw = Run("VEMB v a RAW");
  ASSERT_EQ(raw.Size(), 4u);
  EXPECT_THAT(raw[0], Simple("int8"));
  EXPECT_EQ(raw[1].Text(), "*U\x7f");
  EXPECT_EQ(raw[2].Text(), "3.7416574954986572");
  EXPECT_EQ(raw[3].Text(), "0.8017836809158325");
  Run("VADD f VALUES 3 1 -2 0 a NOQUANT");
  EXPECT_EQ(Names("VEMB f a"), Texts({"1", "-2", "0"}));
  EXPECT_EQ(Run("VEMB f a raw")[1].Text(), Blob({0.4472136F, -0.8944272F, 0}));
  EXPECT_EQ(Run("VEMB f a RAW").Size(), 3u);
  Run("VADD b VALUES 3 1 -2 0 a BIN");
  EXPECT_EQ(Names("VEMB b a"), Texts({"1", "-1", "-1"}));
  EXPECT_EQ(Run("VEMB b a RAW")[1].Text(), std::string("\1\0\0\0\0\0\0\0", 8));
  Run("VADD r REDUCE 2 VALUES 3 1 2 3 a NOQUANT");
  EXPECT_EQ(Names("VEMB r a"), Texts({"3.464101552963257", "1.154700517654419"}));
  EXPECT_THAT(Run("VDIM r"), Int(2));
  EXPECT_THAT(Run("VEMB v x"), Nil());
  EXPECT_THAT(Run("VEMB none a"), Nil());
  EXPECT_THAT(Run("VEMB v a FOO"), Error("ERR invalid option"));
}

TEST_P(VectorSetCommands, Projections) {
  Run("VADD r REDUCE 2 VALUES 3 1 2 3 a");
  EXPECT_THAT(Run("VADD r VALUES 3 1 2 3 b"), Error("ERR Vector dimension mismatch - got 3 but set has 2"));
  EXPECT_THAT(Run("VADD r VALUES 2 1 2 b"), Error("ERR Vector dimension mismatch - got 2 but set has 2"));
  EXPECT_THAT(Run("VADD r REDUCE 1 VALUES 3 1 2 3 b"), Error("ERR Vector dimension mismatch - got 3 but set has 2"));
  EXPECT_THAT(Run("VADD r REDUCE 2 VALUES 4 1 2 3 4 b"),
              Error("ERR Input dimension mismatch for projection - got 4 but projection expects 3"));
  EXPECT_THAT(Run("VADD r REDUCE 2 VALUES 3 1 2 4 b"), Yes());
  EXPECT_THAT(Run("VSIM r VALUES 3 1 2 3"), ArrayOf(Bulk("a"), Bulk("b")));
  EXPECT_EQ(Names("VSIM r VALUES 2 1 2").size(), 2u);  // a vector that the client has projected
  EXPECT_THAT(Run("VSIM r VALUES 4 1 2 3 4"),
              Error("ERR Input dimension mismatch for projection - got 4 but projection expects 3"));
}

TEST_P(VectorSetCommands, LargeMatricesAreRefused) {
  std::vector<std::string> words = {"VADD", "r", "REDUCE", "5000", "VALUES", "5000"};
  words.resize(words.size() + 5000, "1");
  words.emplace_back("a");
  EXPECT_THAT(Run(words), Error("ERR REDUCE needs a matrix of more than 64 MB"));
  EXPECT_THAT(Run("EXISTS r"), Int(0));
}

TEST_P(VectorSetCommands, EmptyAttributesAreNone) {
  Run("VADD v VALUES 2 1 0 a SETATTR '{}'");
  Run("VADD v VALUES 2 1 0 a SETATTR ''");
  EXPECT_THAT(Run("VGETATTR v a"), Nil());
  Run("VADD v VALUES 2 1 0 b SETATTR ''");
  EXPECT_THAT(Run("VGETATTR v b"), Nil());
}

// Most slots are free after the removals. To look for a used one must not take long.
TEST_P(VectorSetCommands, RandomElementsAfterManyRemovals) {
  for (int i = 0; i < 3000; ++i) Run(StrCat("VADD v VALUES 2 1 ", i % 7, " e", i));
  for (int i = 0; i < 3000; ++i)
    if (i % 1000 != 999) Run(StrCat("VREM v e", i));
  std::map<std::string, int> counts;
  for (const std::string& name : Run("VRANDMEMBER v -3000").Texts()) ++counts[name];
  EXPECT_EQ(counts.size(), 3u);
  for (const auto& [name, count] : counts) EXPECT_GT(count, 700) << name;
}

TEST_P(VectorSetCommands, Attributes) {
  Run("VADD v VALUES 2 1 2 a SETATTR {}");
  Run("VADD v VALUES 2 1 3 b SETATTR {bad");
  EXPECT_THAT(Run("VGETATTR v a"), Bulk("{}"));
  EXPECT_THAT(Run("VGETATTR v b"), Bulk("{bad"));
  EXPECT_THAT(Run("VGETATTR v x"), Nil());
  EXPECT_THAT(Run("VGETATTR none a"), Nil());
  EXPECT_THAT(Run("VSETATTR v a '{\"x\":1}'"), Yes());
  EXPECT_THAT(Run("VSETATTR v x {}"), No());
  EXPECT_THAT(Run("VSETATTR none x {}"), No());
  EXPECT_THAT(Run({"VSETATTR", "v", "b", ""}), Yes());
  EXPECT_THAT(Run("VGETATTR v b"), Nil());
  EXPECT_THAT(Run("VADD v VALUES 2 5 5 a"), No());
  EXPECT_THAT(Run("VGETATTR v a"), Bulk("{\"x\":1}"));  // a new vector keeps the attributes
  EXPECT_THAT(Run("VINFO v")[13], Int(1));
}

TEST_P(VectorSetCommands, Similarity) {
  Run("VADD v VALUES 3 1 2 3 a SETATTR '{\"x\":1}'");
  Run("VADD v VALUES 3 1 2 4 b");
  Run("VADD v VALUES 3 -1 -2 -3 c SETATTR '{\"x\":2}'");
  EXPECT_THAT(Run("VSIM v ELE a"), ArrayOf(Bulk("a"), Bulk("b"), Bulk("c")));
  EXPECT_THAT(Run("VSIM v VALUES 3 1 2 3 COUNT 2 TRUTH"), ArrayOf(Bulk("a"), Bulk("b")));
  EXPECT_THAT(Run("VSIM v ELE a COUNT 9223372036854775807 NOTHREAD"), ArrayOf(Bulk("a"), Bulk("b"), Bulk("c")));
  EXPECT_THAT(Run("VSIM v ELE a EPSILON 0.2"), ArrayOf(Bulk("a"), Bulk("b")));
  EXPECT_THAT(Run("VSIM v ELE a EPSILON inf"), ArrayOf(Bulk("a"), Bulk("b"), Bulk("c")));
  EXPECT_THAT(Run("VSIM v ELE a EF 1"), ArrayOf(Bulk("a"), Bulk("b"), Bulk("c")));
  EXPECT_THAT(Run("VSIM none ELE a FOO"), ArrayOf({}));
  EXPECT_NEAR(Score("VSIM v VALUES 3 1 2 3 COUNT 1 WITHSCORES"), 1, 1e-6);
  EXPECT_NEAR(Score("VSIM v ELE b COUNT 1 WITHSCORES"), 1, 1e-6);
  EXPECT_NEAR(Score("VSIM v VALUES 3 0 0 0 COUNT 1 WITHSCORES"), 0.5, 1e-6);
  EXPECT_THAT(Run("VSIM v ELE a FILTER '.x > 0' COUNT 1 WITHATTRIBS"), MapOf({{Bulk("a"), Bulk("{\"x\":1}")}}));
  EXPECT_THAT(Run("VSIM v ELE a FILTER .x==2 WITHATTRIBS"), MapOf({{Bulk("c"), Bulk("{\"x\":2}")}}));
  EXPECT_THAT(Run("VSIM v ELE a FILTER .x==2 TRUTH"), ArrayOf({Bulk("c")}));
  EXPECT_THAT(Run("VSIM v ELE b COUNT 1 WITHATTRIBS"), MapOf({{Bulk("b"), Nil()}}));
  EXPECT_THAT(Run("VSIM v ELE a FILTER .x==2 FILTER-EF 1000000000000"), ArrayOf({Bulk("c")}));
  EXPECT_THAT(Run("VSIM v ELE a FILTER .missing"), ArrayOf({}));
}

TEST_P(VectorSetCommands, ScoresAndAttributesTogether) {
  Run("VADD v VALUES 2 1 0 a SETATTR {}");
  const TestReply reply = Run("VSIM v ELE a WITHSCORES WITHATTRIBS");
  if (IsResp3()) {
    EXPECT_THAT(reply, MapOf({{Bulk("a"), ArrayOf(Double(1), Bulk("{}"))}}));
  } else {
    EXPECT_THAT(reply, ArrayOf(Bulk("a"), Bulk("1"), Bulk("{}")));
  }
}

TEST_P(VectorSetCommands, RefusesWrongSearches) {
  Run("VADD v VALUES 3 1 2 3 a");
  EXPECT_THAT(Run("VSIM v ELE x FOO"), Error("ERR element not found in set"));
  EXPECT_THAT(Run("VSIM v VALUES 2 1 2 FOO"), Error("ERR Vector dimension mismatch - got 2 but set has 3"));
  for (const char* query : {"VALUES 3 1 2", "VALUES 3 1 2 nan", "VALUES 0 1", "FP32 abc", "BAR 1", "ELEMENT a"})
    EXPECT_THAT(Run(StrCat("VSIM v ", query)), Error(kBadVector)) << query;
  for (const char* option : {"FOO", "COUNT", "FILTER", "WITHSCORE", "EF"})
    EXPECT_THAT(Run(StrCat("VSIM v ELE a ", option)), Error("ERR syntax error in VSIM command")) << option;
  for (const char* count : {"0", "-1", "x", "9223372036854775808"})
    EXPECT_THAT(Run(StrCat("VSIM v ELE a COUNT ", count)), Error("ERR invalid COUNT"));
  for (const char* epsilon : {"0", "-1", "nan", "x"})
    EXPECT_THAT(Run(StrCat("VSIM v ELE a EPSILON ", epsilon)), Error("ERR invalid EPSILON"));
  for (const char* ef : {"0", "-1", "x", "1000001"})
    EXPECT_THAT(Run(StrCat("VSIM v ELE a EF ", ef)), Error("ERR invalid EF"));
  for (const char* ef : {"0", "-1", "x"})
    EXPECT_THAT(Run(StrCat("VSIM v ELE a FILTER-EF ", ef)), Error("ERR invalid FILTER-EF"));
  EXPECT_THAT(Run("VSIM v ELE a FILTER '.x =='"), Error("ERR syntax error in FILTER expression near: .x =="));
  EXPECT_THAT(Run("VSIM v ELE"), Error("ERR wrong number of arguments for 'VSIM' command"));
}

// Redis has no such limits.
TEST_P(VectorSetCommands, FiltersLimitWork) {
  Run({"VADD", "v", "VALUES", "2", "1", "1", "a", "SETATTR", StrCat("{\"x\":\"", std::string(200'000, 'a'), "\"}")});
  std::string comparisons = ".x == .x";
  for (int i = 0; i < 10; ++i) comparisons += " and .x == .x";
  EXPECT_THAT(Run({"VSIM", "v", "ELE", "a", "FILTER", comparisons}), ArrayOf({Bulk("a")}));
  for (int i = 0; i < 20; ++i) comparisons += " and .x == .x";
  for (const char* option : {"NOTHREAD", "TRUTH"}) {
    EXPECT_THAT(Run({"VSIM", "v", "ELE", "a", option, "FILTER", comparisons}),
                Error("ERR FILTER would read too many bytes for one element"));
  }
  EXPECT_THAT(Run({"VSIM", "v", "ELE", "a", "FILTER", std::string((1 << 20) + 1, '1')}),
              Error("ERR FILTER expression is too long"));
  EXPECT_THAT(Run("VSIM v ELE a"), ArrayOf({Bulk("a")}));
}

// An element that another client changes during a search must not be in the reply if it does not match any more.
TEST_P(VectorSetCommands, ASearchSeesChangesOfOtherClients) {
  constexpr int kElements = 1500;  // whose attributes take several steps of the search
  const std::string padding(8'000, 'x');
  const auto adding = [&](int i, int year) {
    return StrCat("VADD v VALUES 2 ", i, " 1 e", i, " EF 5 M 4 SETATTR '{\"p\":\"", padding, "\",\"y\":", year, "}'");
  };
  for (int i = 0; i < kElements; ++i) Run(adding(i, 1));
  TestClient other(server());
  for (const char* option : {"TRUTH", "EF 2000"}) {
    client().Begin(StrCat("VSIM v VALUES 2 0 1 COUNT 2000 WITHSCORES FILTER '.y == 1' ", option));
    ASSERT_FALSE(client().Read().HasValue()) << "the search needs no second step";
    for (int i = 0; i < 20; ++i) other.Begin(StrCat("VREM v e", i));
    for (int i = 20; i < 40; ++i) other.Begin(StrCat("VSETATTR v e", i, " '{\"y\":2}'"));
    for (int i = 40; i < 60; ++i) other.Begin(adding(i, 2));  // gets the slot of a removed element
    for (int i = 0; i < 100; ++i) server().EndTurn();
    const TestReply reply = client().Read();
    std::set<std::string> names;
    for (size_t i = 0; i < reply.Size(); i += 2) {
      const std::string name = reply[i].Text();
      EXPECT_TRUE(names.insert(name).second) << name;
      EXPECT_GE(std::stoi(name.substr(1)), 60) << name;
    }
    EXPECT_EQ(names.size(), kElements - 60U);
    for (int i = 0; i < 60; ++i) Run(adding(i, 1));
  }
}

// RENAME is the usual way to exchange an index. The reply must be from the old or from the new set.
TEST_P(VectorSetCommands, ASearchStartsAgainIfItsSetIsReplaced) {
  const auto add = [&](const char* key, int count) {
    for (int i = 0; i < count; ++i) {
      Run({"VADD", key, "VALUES", "2", std::to_string(i), "1", StrCat("e", i), "EF", "5", "M", "4", "SETATTR",
           StrCat("{\"p\":\"", std::string(8'000, 'x'), "\",\"y\":1}")});
    }
  };
  add("v", 1000);
  add("new", 900);
  TestClient other(server());
  client().Begin("VSIM v VALUES 2 0 1 COUNT 2000 TRUTH FILTER '.y == 1'");
  ASSERT_FALSE(client().Read().HasValue()) << "the search needs no second step";
  other.Begin("RENAME new v");
  for (int i = 0; i < 100; ++i) server().EndTurn();
  EXPECT_EQ(client().Read().Size(), 900u);
  client().Begin("VSIM v VALUES 2 0 1 COUNT 2000 TRUTH FILTER '.y == 1'");
  other.Begin("DEL v");
  for (int i = 0; i < 100; ++i) server().EndTurn();
  EXPECT_EQ(client().Read().Size(), 0u);
  add("v", 1000);
  client().Begin("VSIM v VALUES 2 0 1 COUNT 2000 TRUTH FILTER '.y == 1'");
  for (int i = 0; i < 100; ++i) {  // ends, although the set is replaced in each turn
    other.Begin("COPY v w");
    other.Begin("RENAME w v");
    server().EndTurn();
  }
  EXPECT_EQ(client().Read().Size(), 1000u);
  client().Begin("VSIM v VALUES 2 0 1 COUNT 2000 TRUTH FILTER '.y == 1'");
  other.Begin("SET w 1");
  other.Begin("RENAME w v");
  for (int i = 0; i < 100; ++i) server().EndTurn();
  EXPECT_THAT(client().Read(), Error(kWrongType));
}

TEST_P(VectorSetCommands, TheCachingChoiceHoldsForAllStepsOfASearch) {
  if (!IsResp3()) return;
  for (int i = 0; i < 1000; ++i) {
    Run({"VADD", "v", "VALUES", "2", std::to_string(i), "1", StrCat("e", i), "EF", "5", "M", "4", "SETATTR",
         StrCat("{\"p\":\"", std::string(8'000, 'x'), "\",\"y\":1}")});
  }
  Run("CLIENT TRACKING ON OPTIN");
  Run("CLIENT CACHING YES");
  client().Begin("VSIM v VALUES 2 0 1 TRUTH FILTER '.y == 1'");
  TestClient other(server());
  other.Begin("VREM v e1");
  for (int i = 0; i < 100; ++i) server().EndTurn();
  while (client().Read().HasValue()) continue;
  other.Run("VREM v e2");
  EXPECT_THAT(client().Read(), PushOf({Bulk("invalidate"), ArrayOf({Bulk("v")})}));
}

// An error in a later step.
TEST_P(VectorSetCommands, FiltersLimitWorkInEachStep) {
  for (int i = 0; i < 200; ++i) {
    Run({"VADD", "v", "VALUES", "2", std::to_string(i), "1", StrCat("e", i), "EF", "5", "M", "4", "SETATTR",
         StrCat("{\"x\":\"", std::string(i == 199 ? 200'000 : 50'000, 'a'), "\"}")});
  }
  std::string comparisons = ".x == .x";
  for (int i = 0; i < 30; ++i) comparisons += " and .x == .x";
  EXPECT_THAT(Run({"VSIM", "v", "ELE", "e0", "TRUTH", "FILTER", comparisons}),
              Error("ERR FILTER would read too many bytes for one element"));
  EXPECT_THAT(Run("VCARD v"), Int(200));
}

TEST_P(VectorSetCommands, Links) {
  Run("VADD v VALUES 2 1 0 a");
  Run("VADD v VALUES 2 1 0 b");
  const TestReply links = Run("VLINKS v a");
  EXPECT_THAT(links[links.Size() - 1], ArrayOf({Bulk("b")}));
  const TestReply scored = Run("VLINKS v a WITHSCORES");
  EXPECT_THAT(scored[scored.Size() - 1], MapOf({{Bulk("b"), Double(1)}}));
  EXPECT_THAT(Run("VLINKS v x"), Nil());
  EXPECT_THAT(Run("VLINKS none a"), Nil());
  EXPECT_THAT(Run("VLINKS v a FOO"), Error("ERR wrong number of arguments for 'VLINKS' command"));
}

TEST_P(VectorSetCommands, Remove) {
  Run("VADD v VALUES 2 1 0 a");
  Run("VADD v VALUES 2 0 1 b");
  EXPECT_THAT(Run("VREM v x"), No());
  EXPECT_THAT(Run("VREM none a"), No());
  EXPECT_THAT(Run("VREM v a"), Yes());
  EXPECT_THAT(Run("VSIM v VALUES 2 1 0"), ArrayOf({Bulk("b")}));
  EXPECT_THAT(Run("VREM v b"), Yes());
  EXPECT_THAT(Run("EXISTS v"), Int(0));
}

TEST_P(VectorSetCommands, RandomElements) {
  EXPECT_THAT(Run("VRANDMEMBER none"), Nil());
  EXPECT_THAT(Run("VRANDMEMBER none 5"), ArrayOf({}));
  for (int i = 0; i < 20; ++i) Run(StrCat("VADD v VALUES 2 ", i, " 1 e", i));
  EXPECT_EQ(Run("VRANDMEMBER v").Text()[0], 'e');
  for (const int count : {1, 3, 10, 19, 20, 100}) {
    Texts names = Names(StrCat("VRANDMEMBER v ", count));
    std::sort(names.begin(), names.end());
    EXPECT_EQ(names.size(), static_cast<size_t>(std::min(count, 20)));
    EXPECT_EQ(std::unique(names.begin(), names.end()), names.end());
  }
  EXPECT_EQ(Names("VRANDMEMBER v -50").size(), 50u);
  EXPECT_THAT(Run("VRANDMEMBER v 0"), ArrayOf({}));
  EXPECT_EQ(Names("VRANDMEMBER v 9223372036854775807").size(), 20u);
  EXPECT_THAT(Run("VRANDMEMBER v x"), Error("ERR COUNT value is not an integer"));
  // Redis 8.6.3 hangs or crashes.
  EXPECT_THAT(Run("VRANDMEMBER v -9223372036854775808"), Error("ERR value is out of range"));
  Run({"VADD", "long", "VALUES", "2", "1", "1", std::string(1 << 20, 'x')});
  EXPECT_THAT(Run("VRANDMEMBER long -600"), Error("ERR the reply would have more than 10000000 elements or 512 MB"));
}

TEST_P(VectorSetCommands, Ranges) {
  for (const char* name : {"b", "a", "d", "c"}) Run(StrCat("VADD v VALUES 2 1 1 ", name));
  EXPECT_EQ(Names("VRANGE v - +"), Texts({"a", "b", "c", "d"}));
  EXPECT_EQ(Names("VRANGE v - + 2"), Texts({"a", "b"}));
  EXPECT_EQ(Names("VRANGE v - + 0"), Texts());
  EXPECT_EQ(Names("VRANGE v - + -1").size(), 4u);
  EXPECT_EQ(Names("VRANGE v [b [c"), Texts({"b", "c"}));
  EXPECT_EQ(Names("VRANGE v (b (d"), Texts({"c"}));
  EXPECT_EQ(Names("VRANGE v [bb +"), Texts({"c", "d"}));
  EXPECT_EQ(Names("VRANGE none - +"), Texts());
  EXPECT_THAT(Run("VRANGE v a b"), Error("ERR invalid start range format"));
  EXPECT_THAT(Run("VRANGE v [ +"), Error("ERR invalid start range format"));
  EXPECT_THAT(Run("VRANGE v - + x"), Error("ERR invalid COUNT value"));
  EXPECT_THAT(Run("VRANGE v + -"), Error("ERR '-' can only be used as first argument, '+' only as second"));
  EXPECT_THAT(Run("VRANGE v [b -"), Error("ERR '-' can only be used as first argument, '+' only as second"));
  EXPECT_THAT(Run("VRANGE v - + 1 2"), Error("ERR wrong number of arguments for 'VRANGE' command"));
}

TEST_P(VectorSetCommands, WrongType) {
  Run("SET s x");
  for (const char* line :
       {"VADD s VALUES 2 1 2 a", "VCARD s", "VDIM s", "VSIM s ELE a", "VRANGE s - +", "VINFO s", "VRANDMEMBER s",
        "VGETATTR s a", "VSETATTR s a {}", "VREM s a", "VISMEMBER s a", "VLINKS s a", "VEMB s a"}) {
    EXPECT_THAT(Run(line), Error(kWrongType)) << line;
  }
  Run("VADD v VALUES 2 1 2 a");
  EXPECT_THAT(Run("GET v"), Error(kWrongType));
  EXPECT_THAT(Run("ZADD v 1 a"), Error(kWrongType));
}

TEST_P(VectorSetCommands, LivesAsOtherValuesDo) {
  for (int i = 0; i < 50; ++i) Run(StrCat("VADD v VALUES 3 ", i % 7, " ", i % 11, " ", i, " e", i));
  Run("VSETATTR v e7 '{\"x\":1}'");
  EXPECT_THAT(Run("RENAME v w"), Ok());
  EXPECT_THAT(Run("MOVE w 1"), Int(1));
  Run("SELECT 1");
  EXPECT_THAT(Run("RENAME w v"), Ok());
  EXPECT_THAT(Run("PEXPIRE v 100000"), Int(1));
  EXPECT_THAT(Run("SCAN 0 TYPE vectorset")[1], ArrayOf({Bulk("v")}));
  EXPECT_GT(Run("MEMORY USAGE v").Integer(), 50 * 100);
  const std::string payload = Run("DUMP v").Text();
  EXPECT_THAT(Run({"RESTORE", "u", "0", payload}), Ok());
  EXPECT_EQ(Run("DUMP u").Text(), payload);
  EXPECT_EQ(Names("VSIM u VALUES 3 1 2 3"), Names("VSIM v VALUES 3 1 2 3"));
  EXPECT_THAT(Run("DEBUG RELOAD"), Ok());
  EXPECT_EQ(Run("DUMP u").Text(), payload);
  EXPECT_THAT(Run("EVAL \"return redis.call('VCARD', 'u')\" 0"), Int(50));
}

// Otherwise a replica of Redis, which refuses it, would have other data.
TEST_P(VectorSetCommands, CannotBeCopied) {
  Run("VADD v VALUES 2 1 2 a");
  Run("SET s x");
  EXPECT_THAT(Run("COPY v s"), Int(0));
  EXPECT_THAT(Run("COPY v s REPLACE"), Error("ERR not supported for this module key"));
  EXPECT_THAT(Run("COPY v w DB 1"), Error("ERR not supported for this module key"));
  EXPECT_THAT(Run("GET s"), Bulk("x"));
  EXPECT_THAT(Run("COPY s v REPLACE"), Int(1));
}

TEST_P(VectorSetCommands, ChangesAreSeenButSendNoEvents) {
  Run("VADD v VALUES 2 1 0 a");
  EXPECT_THAT(Run("VADD v VALUES 2 1 1 a"), No());
  EXPECT_THAT(Run("VSETATTR v a {}"), Yes());
  EXPECT_THAT(Run("VSETATTR v x {}"), No());
  EXPECT_THAT(Run("VREM v x"), No());
  EXPECT_EQ(Journaled(), Texts({"0: VADD v VALUES 2 1 0 a", "0: VADD v VALUES 2 1 1 a", "0: VSETATTR v a {}"}));
  TestClient other(server(), RespVersion::kResp2);
  other.Run("WATCH v");
  other.Run("MULTI");
  Run("VADD v VALUES 2 0 1 b");
  EXPECT_THAT(other.Run("EXEC"), NilArray());
}

TEST_P(VectorSetCommands, RefusesDamagedPayloads) {
  for (int i = 0; i < 20; ++i) Run(StrCat("VADD v VALUES 3 ", i % 7, " ", i % 11, " ", i, " e", i));
  const std::string payload = Run("DUMP v").Text();
  Run("CONFIG SET sanitize-dump-payload yes");
  Run("DEBUG SET-SKIP-CHECKSUM-VALIDATION 1");
  size_t accepted = 0;
  for (size_t i = 1; i + 10 < payload.size(); ++i) {
    for (const char flip : {'\x01', '\x80', '\xff'}) {
      std::string damaged = payload;
      damaged[i] = static_cast<char>(damaged[i] ^ flip);
      const TestReply reply = Run({"RESTORE", "u", "0", damaged, "REPLACE"});
      if (reply.Text() != "OK") continue;
      ++accepted;
      Run("VSIM u VALUES 3 1 2 3 COUNT 30");
      Run("VREM u e7");
      Run("VADD u VALUES 3 1 2 3 new");
    }
  }
  EXPECT_GT(accepted, 0u);  // changed names and vectors
  Run("DEL u");
}

}  // namespace
}  // namespace respite
