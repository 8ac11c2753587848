// Streams without groups: adding, ranges, trimming, metadata.
#include <string>
#include <vector>

#include "base/str_cat.h"
#include "tests/support/command_test.h"

namespace respite {
namespace {

constexpr char kInvalidId[] = "ERR Invalid stream ID specified as stream command argument";
constexpr char kNotAbove[] = "ERR The ID specified in XADD is equal or smaller than the target stream top item";

class StreamCommands : public CommandTest {
 protected:
  StreamCommands() : CommandTest({"stream-node-max-entries 10"}) {}

  // Adds entries 1-0 … count-0 with "n" = their number.
  void Fill(int count, const std::string& key = "s") {
    for (int i = 1; i <= count; ++i) Run({"XADD", key, std::to_string(i), "n", std::to_string(i)});
  }
  static ReplyMatcher Entry(const std::string& id, std::vector<std::string> words) {
    return ArrayOf(Bulk(id), Bulks(std::move(words)));
  }
  // Matches entries that Fill added.
  static ReplyMatcher Filled(std::vector<int> numbers) {
    ReplyMatchers entries;
    for (int n : numbers) entries.push_back(Entry(StrCat(n, "-0"), {"n", std::to_string(n)}));
    return ArrayOf(std::move(entries));
  }
};
INSTANTIATE_TEST_SUITE_P(Resp, StreamCommands, BothVersions(), VersionName);

TEST_P(StreamCommands, IdsIncreaseWhateverTheClock) {
  const std::string first = std::to_string(now_ms());
  EXPECT_THAT(Run("XADD s * f v"), Bulk(first + "-0"));
  EXPECT_THAT(Run("XADD s * f v"), Bulk(first + "-1"));
  clock().SetWallMs(now_ms() - 5000);
  EXPECT_THAT(Run("XADD s * f v"), Bulk(first + "-2"));
  clock().SetWallMs(now_ms() + 6000);
  EXPECT_THAT(Run("XADD s * f v"), Bulk(StrCat(now_ms(), "-0")));
  EXPECT_THAT(Run("XLEN s"), Int(4));
  EXPECT_THAT(Run("TYPE s"), Simple("stream"));
  EXPECT_THAT(Run("OBJECT ENCODING s"), Bulk("stream"));
}

TEST_P(StreamCommands, TakeIdsThatAreAboveTheLast) {
  EXPECT_THAT(Run("XADD s 0-0 f v"), Error("ERR The ID specified in XADD must be greater than 0-0"));
  EXPECT_THAT(Run("EXISTS s"), Int(0));
  EXPECT_THAT(Run("XADD s 0-* f v"), Bulk("0-1"));
  EXPECT_THAT(Run("XADD s 5 f v"), Bulk("5-0"));
  EXPECT_THAT(Run("XADD s 5-* f v"), Bulk("5-1"));
  EXPECT_THAT(Run("XADD s 5-1 f v"), Error(kNotAbove));
  EXPECT_THAT(Run("XADD s 4-* f v"), Error(kNotAbove));
  EXPECT_THAT(Run("XADD s - f v"), Error(kInvalidId));
  EXPECT_THAT(Run("XADD s 6 f"), Error("ERR wrong number of arguments for 'xadd' command"));
  EXPECT_THAT(Run("XADD s 6 f v g"), Error("ERR wrong number of arguments for 'xadd' command"));
  EXPECT_THAT(Run("XADD s 18446744073709551615-18446744073709551615 f v"),
              Bulk("18446744073709551615-18446744073709551615"));
  EXPECT_THAT(Run("XADD s * f v"),
              Error("ERR The stream has exhausted the last possible ID, unable to add more items"));
  EXPECT_THAT(Run("XADD none NOMKSTREAM * f v"), Nil());
  EXPECT_THAT(Run("EXISTS none"), Int(0));
  Run("SET text x");
  EXPECT_THAT(Run("XADD text * f v"), Error(kWrongType));
}

TEST_P(StreamCommands, ReadIdsUpToTheFirstNul) {
  const Bytes id("1-1\0junk", 8);
  EXPECT_THAT(Run({"XADD", "s", id, "f", "v"}), Bulk("1-1"));
  EXPECT_THAT(Run({"XADD", "s", Bytes("2-*\0", 4), "f", "v"}), Bulk("2-0"));
  EXPECT_THAT(Run({"XRANGE", "s", id, id}), ArrayOf(ArrayOf(Bulk("1-1"), Bulks({"f", "v"}))));
  EXPECT_THAT(Run({"XDEL", "s", id, Bytes("2\0", 2)}), Int(2));
}

TEST_P(StreamCommands, ReturnRanges) {
  Fill(25);
  EXPECT_THAT(Run("XRANGE s 3 5"), Filled({3, 4, 5}));
  EXPECT_THAT(Run("XRANGE s (3 (5-0"), Filled({4}));
  EXPECT_THAT(Run("XRANGE s - + COUNT 2"), Filled({1, 2}));
  EXPECT_THAT(Run("XREVRANGE s + - COUNT 2"), Filled({25, 24}));
  EXPECT_THAT(Run("XREVRANGE s 12 9"), Filled({12, 11, 10, 9}));
  EXPECT_THAT(Run("XRANGE s 9 5"), EmptyArray());
  EXPECT_THAT(Run("XRANGE s - + COUNT 0"), NilArray());
  EXPECT_THAT(Run("XRANGE none - +"), EmptyArray());
  EXPECT_THAT(Run("XRANGE s - + COUNT"), Error("ERR syntax error"));
  EXPECT_THAT(Run("XRANGE s (18446744073709551615-18446744073709551615 +"),
              Error("ERR invalid start ID for the interval"));
  EXPECT_THAT(Run("XRANGE s - (0-0"), Error("ERR invalid end ID for the interval"));
  EXPECT_THAT(Run("XRANGE s (- +"), Error(kInvalidId));
}

TEST_P(StreamCommands, KeepFieldsOfAnyKindAndNumber) {
  Run({"XADD", "s", "1", "f", "", "12", "-7", "f", "text"});
  Run({"XADD", "s", "2", "f", "007"});
  Run({"XADD", "s", "3", "f", std::string(5000, 'x'), "12", "9223372036854775807", "f", "-9223372036854775808"});
  EXPECT_THAT(
      Run("XRANGE s - +"),
      ArrayOf(Entry("1-0", {"f", "", "12", "-7", "f", "text"}), Entry("2-0", {"f", "007"}),
              Entry("3-0", {"f", std::string(5000, 'x'), "12", "9223372036854775807", "f", "-9223372036854775808"})));
}

TEST_P(StreamCommands, AreTrimmedExactlyOrByWholeBlocks) {
  Fill(35);
  EXPECT_THAT(Run("XTRIM s MAXLEN ~ 22"), Int(10));
  EXPECT_THAT(Run("XTRIM s MINID ~ 20"), Int(0));
  EXPECT_THAT(Run("XTRIM s MINID = 15"), Int(4));
  EXPECT_THAT(Run("XTRIM s MAXLEN 3"), Int(18));
  EXPECT_THAT(Run("XRANGE s - +"), Filled({33, 34, 35}));
  EXPECT_THAT(Run("XADD s MAXLEN 2 36 n 36"), Bulk("36-0"));
  EXPECT_THAT(Run("XRANGE s - +"), Filled({35, 36}));
  EXPECT_THAT(Run("XTRIM s MAXLEN 0"), Int(2));
  EXPECT_THAT(Run("EXISTS s"), Int(1));
  EXPECT_THAT(Run("XADD s * n 1"), BulkThat(testing::Not(testing::IsEmpty())));
}

TEST_P(StreamCommands, AreTrimmedWithinALimit) {
  Fill(95);
  EXPECT_THAT(Run("XTRIM s MAXLEN ~ 0 LIMIT 25"), Int(20));
  EXPECT_THAT(Run("XTRIM s MAXLEN ~ 0 LIMIT 5"), Int(0));
  EXPECT_THAT(Run("XTRIM s MAXLEN ~ 0 LIMIT 0"), Int(75));
  EXPECT_THAT(Run("XTRIM s MAXLEN 0 LIMIT 5"),
              Error("ERR syntax error, LIMIT cannot be used without the special ~ option"));
  EXPECT_THAT(Run("XTRIM s LIMIT 5"),
              Error("ERR syntax error, LIMIT cannot be used without specifying a trimming strategy"));
  EXPECT_THAT(Run("XTRIM s LIMIT 0"), Error("ERR syntax error, XTRIM must be called with a trimming strategy"));
  EXPECT_THAT(Run("XTRIM s MAXLEN 1 MINID 1"),
              Error("ERR syntax error, MAXLEN and MINID options at the same time are not compatible"));
  EXPECT_THAT(Run("XTRIM s MAXLEN -1"), Error("ERR The MAXLEN argument must be >= 0."));
  EXPECT_THAT(Run("XTRIM s MAXLEN ~ 1 LIMIT -1"), Error("ERR The LIMIT argument must be >= 0."));
  EXPECT_THAT(Run("XTRIM s MINID x"), Error(kInvalidId));
}

TEST_P(StreamCommands, ForgetDeletedEntriesButNotTheirIds) {
  Fill(12);
  EXPECT_THAT(Run("XDEL s 12 1 5 99 5"), Int(3));
  EXPECT_THAT(Run("XRANGE s - + COUNT 4"), Filled({2, 3, 4, 6}));
  EXPECT_THAT(Run("XADD s 12 f v"), Error(kNotAbove));
  EXPECT_THAT(Run("XDEL s 2 x"), Error(kInvalidId));
  EXPECT_THAT(Run("XLEN s"), Int(9));
  EXPECT_THAT(Run("XDEL none x"), Int(0));
}

TEST_P(StreamCommands, KeepMetadataOfXSetId) {
  Fill(3);
  EXPECT_THAT(Run("XSETID s 2"), Error("ERR The ID specified in XSETID is smaller than the target stream top item"));
  EXPECT_THAT(Run("XSETID s 9 ENTRIESADDED 2"),
              Error("ERR The entries_added specified in XSETID is smaller than the target stream length"));
  EXPECT_THAT(Run("XSETID s 9 MAXDELETEDID 10"),
              Error("ERR The ID specified in XSETID is smaller than the provided max_deleted_entry_id"));
  EXPECT_THAT(Run("XSETID s 9 ENTRIESADDED -1"), Error("ERR entries_added must be positive"));
  EXPECT_THAT(Run("XSETID none 9"), Error("ERR no such key"));
  EXPECT_THAT(Run("XSETID s 9 ENTRIESADDED 20 MAXDELETEDID 8"), Ok());
  EXPECT_THAT(Run("XSETID s 7"), Error("ERR The ID specified in XSETID is smaller than current max_deleted_entry_id"));
  EXPECT_THAT(Run("XINFO STREAM s"), MapOf({{Bulk("length"), Int(3)},
                                            {Bulk("radix-tree-keys"), Int(1)},
                                            {Bulk("radix-tree-nodes"), Int(2)},
                                            {Bulk("last-generated-id"), Bulk("9-0")},
                                            {Bulk("max-deleted-entry-id"), Bulk("8-0")},
                                            {Bulk("entries-added"), Int(20)},
                                            {Bulk("recorded-first-entry-id"), Bulk("1-0")},
                                            {Bulk("groups"), Int(0)},
                                            {Bulk("first-entry"), Entry("1-0", {"n", "1"})},
                                            {Bulk("last-entry"), Entry("3-0", {"n", "3"})}}));
}

TEST_P(StreamCommands, AreCopiedRenamedAndDumped) {
  Fill(25);
  Run("XGROUP CREATE s g 0");
  Run("XREADGROUP GROUP g c COUNT 5 STREAMS s >");
  EXPECT_THAT(Run("COPY s t"), Int(1));
  Run("XDEL s 7");
  EXPECT_THAT(Run("XLEN t"), Int(25));
  EXPECT_THAT(Run("XACK t g 1"), Int(1));
  EXPECT_THAT(Run("XPENDING s g")[0], Int(5));
  EXPECT_THAT(Run("RENAME t u"), Ok());
  EXPECT_THAT(Run("XPENDING u g")[0], Int(4));
  EXPECT_THAT(Run("MEMORY USAGE u"), IntThat(testing::Gt(100)));
}

TEST_P(StreamCommands, AreReadAfterIds) {
  Fill(3);
  Fill(2, "t");
  const auto streams = [&](std::vector<std::pair<std::string, ReplyMatcher>> found) {
    ReplyMatcherPairs pairs;
    ReplyMatchers arrays;
    for (auto& [key, entries] : found) {
      pairs.emplace_back(Bulk(key), entries);
      arrays.push_back(ArrayOf(Bulk(key), entries));
    }
    return IsResp3() ? MapOf(std::move(pairs)) : ArrayOf(std::move(arrays));
  };
  EXPECT_THAT(Run("XREAD STREAMS s t none 1 0 0"), streams({{"s", Filled({2, 3})}, {"t", Filled({1, 2})}}));
  EXPECT_THAT(Run("XREAD COUNT 1 STREAMS s t 0 2"), streams({{"s", Filled({1})}}));
  EXPECT_THAT(Run("XREAD STREAMS s t + +"), streams({{"s", Filled({3})}, {"t", Filled({2})}}));
  EXPECT_THAT(Run("XREAD STREAMS s none $ +"), NilArray());
  EXPECT_THAT(Run("XREAD STREAMS s t 0"),
              Error("ERR Unbalanced 'xread' list of streams: for each stream key an ID or '$' must be specified."));
  EXPECT_THAT(Run("XREAD GROUP g c STREAMS s 0"),
              Error("ERR The GROUP option is only supported by XREADGROUP. You called XREAD instead."));
  EXPECT_THAT(Run("XREAD STREAMS s >"), Error("ERR The > ID can be specified only when calling XREADGROUP using the "
                                              "GROUP <group> <consumer> option."));
  EXPECT_THAT(Run("XREAD BLOCK -1 STREAMS s $"), Error("ERR timeout is negative"));
}

TEST_P(StreamCommands, WaitForTheNextEntry) {
  Fill(3);
  TestClient waiter(server(), GetParam());
  EXPECT_THAT(waiter.Run("XREAD BLOCK 1000 STREAMS s t $ $"), NoReply());
  Run("XDEL s 1");
  EXPECT_THAT(waiter.Read(), NoReply());
  Run("XADD s 4 n 4");
  EXPECT_THAT(waiter.Read(), IsResp3() ? MapOf({{Bulk("s"), Filled({4})}}) : ArrayOf(ArrayOf(Bulk("s"), Filled({4}))));
  EXPECT_THAT(waiter.Run("XREAD BLOCK 1000 STREAMS none $"), NoReply());
  server().AdvanceMs(1001);
  EXPECT_THAT(waiter.Read(), NilArray());
}

TEST_P(StreamCommands, JournalWhatTheyCameTo) {
  Fill(12);
  Run("XADD s MAXLEN ~ 5 * f v");
  Run("XADD s MINID ~ 5 LIMIT 100 NOMKSTREAM * f v");
  Run("XTRIM s MAXLEN ~ 1");
  const std::string now = std::to_string(now_ms());
  const std::vector<std::string> journal = Journaled();
  ASSERT_EQ(journal.size(), 15u);
  EXPECT_EQ(journal[11], "0: XADD s 12-0 n 12");
  EXPECT_EQ(journal[12], "0: XADD s MAXLEN = 13 " + now + "-0 f v");
  EXPECT_EQ(journal[13], "0: XADD s MINID = 1-0 " + now + "-1 f v");
  EXPECT_EQ(journal[14], "0: XTRIM s MAXLEN = 4");
}

}  // namespace
}  // namespace respite
