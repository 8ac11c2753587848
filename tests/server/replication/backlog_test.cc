#include "server/replication/backlog.h"

#include <gtest/gtest.h>

#include <string>

#include "base/random.h"

namespace respite {
namespace {

BlobPart Part(Bytes text) { return {BlobRef::Copy(text), 0, text.size()}; }

std::string TextFrom(const Backlog& backlog, int64_t offset, int64_t until) {
  std::string text;
  backlog.VisitFrom(offset, until, [&](const BlobPart& part) {
    EXPECT_NE(part.size, 0u);
    text += part.View();
  });
  return text;
}
std::string TextFrom(const Backlog& backlog, int64_t offset) { return TextFrom(backlog, offset, backlog.End()); }

int Parts(const Backlog& backlog) {
  int parts = 0;
  backlog.VisitFrom(backlog.Begin(), backlog.End(), [&](const BlobPart&) { ++parts; });
  return parts;
}

TEST(BacklogTest, StartsEmptyAtItsOffset) {
  Backlog backlog;
  backlog.Restart(100);
  EXPECT_EQ(backlog.Begin(), 100);
  EXPECT_EQ(backlog.End(), 100);
  EXPECT_EQ(backlog.RawBytes(), 0);
  EXPECT_TRUE(backlog.Has(100));
  EXPECT_FALSE(backlog.Has(99));
  EXPECT_FALSE(backlog.Has(101));
  EXPECT_EQ(TextFrom(backlog, 100), "");
}

TEST(BacklogTest, VisitsFromEveryOffsetToEveryEnd) {
  Backlog backlog;
  backlog.Restart(1000);
  const std::string whole = "abcdefghijklmnop";
  backlog.Append(Part("abc"));
  backlog.Append(Part(""));
  backlog.Append(Part("d"));
  backlog.Append(Part("efghijk"));
  backlog.Append(Part("lmnop"));
  ASSERT_EQ(backlog.RawBytes(), static_cast<int64_t>(whole.size()));
  for (size_t from = 0; from <= whole.size(); ++from) {
    for (size_t until = from; until <= whole.size(); ++until) {
      EXPECT_EQ(TextFrom(backlog, 1000 + static_cast<int64_t>(from), 1000 + static_cast<int64_t>(until)),
                whole.substr(from, until - from));
    }
  }
}

TEST(BacklogTest, AdjacentPartsOfABlobAreOneItem) {
  Backlog backlog;
  const BlobRef blob = BlobRef::Copy("0123456789");
  backlog.Append({blob, 0, 3});
  backlog.Append({blob, 3, 4});
  EXPECT_EQ(Parts(backlog), 1);
  backlog.Append({blob, 8, 2});  // there is a gap
  EXPECT_EQ(Parts(backlog), 2);
  EXPECT_EQ(TextFrom(backlog, 0), "012345689");
  EXPECT_EQ(TextFrom(backlog, 2), "2345689");
}

TEST(BacklogTest, PartsOfDifferentBlobsAreNotMerged) {
  Backlog backlog;
  backlog.Append({BlobRef::Copy("abc"), 0, 2});
  backlog.Append({BlobRef::Copy("xyz"), 2, 1});
  EXPECT_EQ(Parts(backlog), 2);
  EXPECT_EQ(TextFrom(backlog, 0), "abz");
}

TEST(BacklogTest, TrimKeepsTheNewestBytes) {
  Backlog backlog;
  backlog.Append(Part("abc"));
  backlog.Append(Part("def"));
  backlog.Trim(4, backlog.End());
  EXPECT_EQ(backlog.Begin(), 2);
  EXPECT_EQ(backlog.End(), 6);
  EXPECT_FALSE(backlog.Has(1));
  EXPECT_EQ(TextFrom(backlog, 2), "cdef");
  backlog.Trim(3, backlog.End());
  EXPECT_EQ(TextFrom(backlog, 3), "def");
  backlog.Trim(100, backlog.End());  // the trimmed part does not return
  EXPECT_EQ(backlog.Begin(), 3);
  backlog.Trim(0, backlog.End());
  EXPECT_EQ(backlog.RawBytes(), 0);
  EXPECT_EQ(Parts(backlog), 0);
  backlog.Append(Part("gh"));
  EXPECT_EQ(TextFrom(backlog, 6), "gh");
}

TEST(BacklogTest, TrimKeepsWhatSomebodyNeeds) {
  Backlog backlog;
  backlog.Append(Part("abcdef"));
  backlog.Trim(1, 2);
  EXPECT_EQ(backlog.Begin(), 2);
  EXPECT_EQ(TextFrom(backlog, 2), "cdef");
  backlog.Trim(1, 6);
  EXPECT_EQ(backlog.Begin(), 5);
}

TEST(BacklogTest, RestartDropsEverything) {
  Backlog backlog;
  backlog.Append(Part("abc"));
  backlog.Restart(50);
  EXPECT_FALSE(backlog.Has(3));
  backlog.Append(Part("x"));
  EXPECT_EQ(TextFrom(backlog, 50), "x");
}

// Compares with a string that keeps everything.
TEST(BacklogTest, RandomOperationsMatchAModel) {
  constexpr uint64_t kSeed = 7;
  Random random(kSeed);
  Backlog backlog;
  SharedLog log;
  std::string model;
  int64_t begin = 0;
  for (int round = 0; round < 3000; ++round) {
    if (random.Below(4) != 0) {
      std::string text(random.Below(300), static_cast<char>('a' + random.Below(26)));
      backlog.Append(log.Append(text, {}));
      model += text;
    } else {
      const auto keep = static_cast<int64_t>(random.Below(2000));
      const auto needed = static_cast<int64_t>(random.Below(model.size() + 1));
      backlog.Trim(keep, needed);
      begin = std::max(begin, std::min(static_cast<int64_t>(model.size()) - keep, needed));
    }
    ASSERT_EQ(backlog.Begin(), begin);
    ASSERT_EQ(backlog.End(), static_cast<int64_t>(model.size()));
    const auto from = begin + static_cast<int64_t>(random.Below(static_cast<uint64_t>(backlog.RawBytes() + 1)));
    ASSERT_EQ(TextFrom(backlog, from), model.substr(static_cast<size_t>(from))) << "round " << round;
  }
}

}  // namespace
}  // namespace respite
