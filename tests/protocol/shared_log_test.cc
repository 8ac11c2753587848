// Messages that many buffers refer to.
#include "protocol/shared_log.h"

#include <gtest/gtest.h>

#include <deque>
#include <random>
#include <string>
#include <vector>

#include "base/str_cat.h"
#include "protocol/reply_buffer.h"

namespace respite {
namespace {

BlobPart Written(SharedLog& log, Bytes first, std::vector<Bytes> others = {}) { return log.Append(first, others); }

TEST(SharedLog, JoinsThePieces) {
  SharedLog log;
  EXPECT_EQ(Written(log, "one ", {"", "two", " three"}).View(), "one two three");
}

TEST(SharedLog, MessagesFollowEachOther) {
  SharedLog log;
  BlobPart first = Written(log, "first");
  BlobPart second = Written(log, "second");
  EXPECT_TRUE(first.blob.Is(second.blob));
  EXPECT_EQ(second.offset, 5u);
  EXPECT_EQ(first.View(), "first");
}

TEST(SharedLog, RestartsWhenNobodyRefersToIt) {
  SharedLog log;
  const char* begin = Written(log, "first").View().data();
  EXPECT_EQ(Written(log, "second").View().data(), begin);
}

TEST(SharedLog, LongMessagesHaveTheirOwnBlob) {
  SharedLog log;
  BlobPart small = Written(log, "small");
  const std::string text(SharedLog::kMaxLoggedMessageBytes + 1, 'x');
  BlobPart large = Written(log, text);
  EXPECT_FALSE(small.blob.Is(large.blob));
  EXPECT_EQ(large.View(), text);
  EXPECT_EQ(Written(log, "next").offset, 5u);
}

TEST(SharedLog, AFullLogIsReplaced) {
  SharedLog log;
  const std::string text(4000, 'x');
  std::vector<BlobPart> parts;
  parts.reserve(5);
  for (int i = 0; i < 5; ++i) parts.push_back(Written(log, text));
  EXPECT_TRUE(parts[3].blob.Is(parts[0].blob));
  EXPECT_FALSE(parts[4].blob.Is(parts[0].blob));
  for (const BlobPart& part : parts) EXPECT_EQ(part.View(), text);
}

TEST(ReplyBufferParts, MessagesInARowAreOnePieceWithoutABlock) {
  BlockPool pool;
  SharedLog log;
  ReplyBuffer buffer(pool);
  for (int i = 0; i < 100; ++i) buffer.AppendPart(Written(log, "message"));
  EXPECT_EQ(buffer.SegmentCount(), 1u);
  EXPECT_EQ(buffer.HeldBytes(), 700u);
}

TEST(ReplyBufferParts, ScatteredMessagesAreCopiedIntoABlock) {
  BlockPool pool;
  SharedLog log;
  ReplyBuffer buffer(pool);
  std::string expected;
  for (int i = 0; i < 100; ++i) {
    BlobPart of_others = Written(log, "not for us");
    buffer.AppendPart(Written(log, "message"));
    expected += "message";
  }
  EXPECT_LE(buffer.SegmentCount(), 5u);
  EXPECT_EQ(buffer.Text(), expected);
}

// One receiver and the bytes it should get.
struct Receiver {
  explicit Receiver(BlockPool& pool) : buffer(pool) {}
  ReplyBuffer buffer;
  std::string expected;
};

class RandomReceivers {
 public:
  explicit RandomReceivers(uint64_t seed) : rng_(seed) {
    for (int i = 0; i < 5; ++i) receivers_.emplace_back(pool_);
  }
  void Step() {
    Receiver& one = receivers_[Number(receivers_.size())];
    const std::string text = Text();
    switch (Number(8)) {
      case 0:
        one.buffer.Append(text);
        one.expected += text;
        break;
      case 1:
        one.buffer.AppendShared(BlobRef::Copy(text + "shared"));
        one.expected += text + "shared";
        break;
      case 2:
      case 3:
        Consume(one);
        break;
      case 4:
        RollBack(one);
        break;
      default:
        Publish(text);
    }
    ASSERT_EQ(one.buffer.Size(), one.expected.size());
    if (Number(20) == 0) {
      ASSERT_EQ(one.buffer.Text(), one.expected);
    }
    if (one.expected.empty()) {
      ASSERT_EQ(one.buffer.HeldBytes(), 0u);
    }
  }

 private:
  size_t Number(size_t limit) { return rng_() % limit; }
  std::string Text() {
    const size_t limits[] = {10, 300, 9000, 40'000};
    return std::string(1 + Number(limits[Number(4)]), static_cast<char>('a' + Number(26)));
  }
  void Publish(const std::string& text) {
    const BlobPart part = Written(log_, text);
    for (Receiver& each : receivers_) {
      if (Number(4) == 0) continue;
      each.buffer.AppendPart(part);
      each.expected += text;
    }
  }
  void Consume(Receiver& one) {
    const size_t sent = Number(one.expected.size() + 1);
    one.buffer.Consume(sent);
    one.expected.erase(0, sent);
  }
  // Rolls back one reply, as the Executor does.
  void RollBack(Receiver& one) {
    const size_t mark = one.buffer.Size();
    for (size_t i = Number(4); i > 0; --i) one.buffer.AppendPart(Written(log_, Text()));
    one.buffer.Append(Text());
    one.buffer.RollBack(mark);
  }

  BlockPool pool_;
  std::mt19937_64 rng_;
  SharedLog log_;
  std::deque<Receiver> receivers_;
};

TEST(ReplyBufferParts, RandomReceiversGetAllMessages) {
  const uint64_t seed = std::random_device{}();
  SCOPED_TRACE(StrCat("seed ", seed));
  RandomReceivers receivers(seed);
  for (int i = 0; i < 5000 && !testing::Test::HasFatalFailure(); ++i) receivers.Step();
}

}  // namespace
}  // namespace respite
