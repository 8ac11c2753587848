#include "protocol/reply_buffer.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "base/random.h"
#include "base/str_cat.h"

namespace respite {
namespace {

std::string Front(const ReplyBuffer& out, size_t pieces) {
  std::string text;
  out.VisitFront(pieces, [&](Bytes piece) { text += piece; });
  return text;
}

// Makes the same changes to a ReplyBuffer and to a string.
class Model {
 public:
  explicit Model(uint64_t seed) : random_(seed), out_(pool_) {}

  void Step() {
    Change();
    if (marks_.empty() || marks_.back() != text_.size()) marks_.push_back(text_.size());
  }
  void Change() {
    switch (random_.Below(8)) {
      case 0:
      case 1:
        return Append(Noise(random_.Below(40)));
      case 2:
        return Append(Noise(random_.Below(3 * BlockPool::kBlockBytes)));
      case 3:
        return Reserve();
      case 4:
        return AppendShared();
      case 5:
        return RollBack();
      default:
        return Consume();
    }
  }
  void Check() const {
    ASSERT_EQ(out_.Size(), text_.size());
    ASSERT_EQ(out_.IsEmpty(), text_.empty());
    ASSERT_EQ(out_.Text(), text_);
    ASSERT_TRUE(text_.starts_with(Front(out_, 3)));
    ASSERT_GE(out_.HeldBytes(), text_.size());
  }
  void Drain() {
    out_.Consume(text_.size());
    text_.clear();
  }
  const ReplyBuffer& out() const { return out_; }

 private:
  std::string Noise(size_t size) {
    std::string text(size, ' ');
    for (char& c : text) c = static_cast<char>(random_.Next());
    return text;
  }
  void Append(const std::string& bytes) {
    out_.Append(bytes);
    text_ += bytes;
  }
  void Reserve() {
    std::string bytes = Noise(random_.Below(BlockPool::kBlockBytes + 1));
    char* to = out_.Reserve(bytes.size());
    std::copy(bytes.begin(), bytes.end(), to);
    out_.Commit(bytes.size());
    text_ += bytes;
  }
  void AppendShared() {
    std::string bytes = Noise(1 + random_.Below(2 * ReplyBuffer::kMinSharedBytes));
    out_.AppendShared(BlobRef::Copy(bytes));
    text_ += bytes;
  }
  // Rolls back only to the end of a reply, as the executor does.
  void RollBack() {
    size_t size = marks_[random_.Below(marks_.size())];
    out_.RollBack(size);
    text_.resize(size);
    std::erase_if(marks_, [&](size_t mark) { return mark > size; });
  }
  void Consume() {
    size_t n = random_.Below(text_.size() + 1);
    out_.Consume(n);
    text_.erase(0, n);
    std::erase_if(marks_, [&](size_t mark) { return mark < n; });
    for (size_t& mark : marks_) mark -= n;
  }

  Random random_;
  BlockPool pool_;
  ReplyBuffer out_;
  std::string text_;
  std::vector<size_t> marks_{0};  // sizes at which a reply ended
};

TEST(ReplyBufferTest, BehavesAsAString) {
  uint64_t seed = SystemSeed();
  SCOPED_TRACE(StrCat("seed ", seed));
  for (uint64_t round = 0; round < 20; ++round) {
    Model model(seed + round);
    for (int step = 0; step < 200; ++step) {
      model.Step();
      ASSERT_NO_FATAL_FAILURE(model.Check()) << "round " << round << ", step " << step;
    }
    model.Drain();
    EXPECT_LE(model.out().HeldBytes(), BlockPool::kBlockBytes);
  }
}

TEST(ReplyBufferTest, EmptyHoldsNothing) {
  BlockPool pool;
  ReplyBuffer out(pool);
  EXPECT_EQ(out.HeldBytes(), 0u);
  EXPECT_EQ(out.SegmentCount(), 0u);
  out.Append("x");
  out.Consume(1);
  EXPECT_TRUE(out.IsEmpty());
  EXPECT_EQ(out.HeldBytes(), 0u);
}

// Fills a buffer above its limit in every way, and returns how many bytes it was given.
size_t Overfill(ReplyBuffer& out, size_t bytes_of_each) {
  const std::string text(bytes_of_each, 'x');
  const size_t before = out.Size();
  out.Append(text);
  out.AppendShared(BlobRef::Copy(text));
  for (size_t i = 0; i < bytes_of_each; ++i) {
    *out.Reserve(1) = 'r';
    out.Commit(1);
  }
  out.AppendPart({BlobRef::Copy(text), 0, text.size()});
  EXPECT_EQ(out.Size() - before, 4 * bytes_of_each);
  return out.Size() - before;
}

TEST(ReplyBufferTest, KeepsNoMoreThanItsLimit) {
  constexpr size_t kLimit = 5 * BlockPool::kBlockBytes;
  BlockPool pool;
  ReplyBuffer out(pool);
  out.SetLimit(kLimit);
  out.Append("reply");
  EXPECT_FALSE(out.HasOverflowed());
  const size_t dropped = Overfill(out, 10 * BlockPool::kBlockBytes);
  EXPECT_TRUE(out.HasOverflowed());
  EXPECT_LE(out.HeldBytes(), kLimit);
  EXPECT_EQ(out.Size(), 5 + dropped);
  out.RollBack(5 + dropped / 2);  // the end of an earlier reply, of which a piece is missing
  EXPECT_TRUE(out.HasOverflowed());
  EXPECT_EQ(out.Size(), 5 + dropped / 2);
  out.RollBack(5);
  EXPECT_FALSE(out.HasOverflowed());
  out.Append("!");
  EXPECT_EQ(out.Text(), "reply!");
}

TEST(ReplyBufferTest, IsWholeAgainAfterItWasCleared) {
  BlockPool pool;
  ReplyBuffer out(pool);
  for (const size_t limit : {size_t{0}, BlockPool::kBlockBytes, 3 * BlockPool::kBlockBytes}) {
    out.SetLimit(limit);
    Overfill(out, 3 * BlockPool::kBlockBytes);
    EXPECT_TRUE(out.HasOverflowed());
    out.Rewind();
    EXPECT_FALSE(out.HasOverflowed());
    EXPECT_EQ(out.HeldBytes(), 0u);
    out.SetLimit(ReplyBuffer::kNoLimit);
    Overfill(out, 3 * BlockPool::kBlockBytes);
    EXPECT_FALSE(out.HasOverflowed());
    EXPECT_EQ(out.Text().size(), out.Size());
    out.Clear();
  }
}

TEST(ReplyBufferTest, TakesItsTextOutOfManyBlocks) {
  BlockPool pool;
  ReplyBuffer out(pool);
  Overfill(out, 3 * BlockPool::kBlockBytes);
  const std::string text = out.Text();
  EXPECT_EQ(out.TakeText(), text);
  EXPECT_TRUE(out.IsEmpty());
  EXPECT_EQ(out.HeldBytes(), 0u);
}

TEST(ReplyBufferTest, RollBackDropsSharedBlobs) {
  BlockPool pool;
  ReplyBuffer out(pool);
  BlobRef blob = BlobRef::Copy("value");
  out.Append("a");
  out.AppendShared(blob);
  out.Append("b");
  out.RollBack(1);
  EXPECT_EQ(out.Text(), "a");
  EXPECT_TRUE(blob.IsUnique());
  out.Append("c");
  EXPECT_EQ(out.Text(), "ac");
}

TEST(BlockPoolTest, FreesBlocksAfterABusyTurn) {
  BlockPool pool;
  for (size_t i = 0; i < BlockPool::kMaxFreeBlocks + 10; ++i)
    pool.Return(std::unique_ptr<char[]>(new char[BlockPool::kBlockBytes]));
  EXPECT_EQ(pool.FreeBlockCount(), BlockPool::kMaxFreeBlocks);
  pool.Trim();
  EXPECT_EQ(pool.FreeBlockCount(), BlockPool::kMaxFreeBlocks) << "all of them were taken and returned since";
  pool.Trim();
  EXPECT_EQ(pool.FreeBlockCount(), BlockPool::kMaxFreeBlocks / 2);
  for (int i = 0; i < 20; ++i) pool.Trim();
  EXPECT_EQ(pool.FreeBlockCount(), 0u);
}

TEST(BlockPoolTest, KeepsFrequentlyUsedBlocks) {
  BlockPool pool;
  std::vector<std::unique_ptr<char[]>> blocks(10);
  for (int turn = 0; turn < 20; ++turn) {
    for (auto& block : blocks) block = pool.Take();
    for (auto& block : blocks) pool.Return(std::move(block));
    pool.Trim();
    EXPECT_EQ(pool.FreeBlockCount(), blocks.size());
  }
  pool.Clear();
  EXPECT_EQ(pool.FreeBlockCount(), 0u);
}

}  // namespace
}  // namespace respite
