#include "datatypes/chunked_list.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <deque>
#include <memory>
#include <string>

#include "base/number_text.h"
#include "base/random.h"
#include "base/str_cat.h"

namespace respite {
namespace {

enum class ElementKind { kShort, kLong, kIntegers, kPrefix, kEmpty, kBinary, kSameWidth, kMixed };
constexpr int kKinds = static_cast<int>(ElementKind::kMixed) + 1;

std::string BinaryText(Random& random, size_t most) {
  std::string text(random.Below(most + 1), '\0');
  for (char& c : text) c = static_cast<char>(random.Below(256));
  return text;
}

std::string LowerText(Random& random, size_t size) {
  std::string text(size, '\0');
  for (char& c : text) c = static_cast<char>('a' + random.Below(26));
  return text;
}

std::string AnyInteger(Random& random) {
  return IntegerText(static_cast<int64_t>(random.Next() >> random.Below(64)) * (random.Below(2) == 0 ? 1 : -1)).Text();
}

std::string Element(Random& random, ElementKind kind) {
  switch (kind) {
    case ElementKind::kShort:
      return LowerText(random, random.Below(20));
    case ElementKind::kLong:
      return BinaryText(random, random.Below(20) == 0 ? 70000 : 600);
    case ElementKind::kIntegers:
      return AnyInteger(random);
    case ElementKind::kPrefix:
      return "element:" + IntegerText(static_cast<int64_t>(random.Below(1000))).Text();
    case ElementKind::kEmpty:
      return "";
    case ElementKind::kBinary:
      return BinaryText(random, 30);
    case ElementKind::kSameWidth:
      return LowerText(random, 12);
    case ElementKind::kMixed:
      return Element(random, static_cast<ElementKind>(random.Below(kKinds - 1)));
  }
  return "";
}

// A ChunkedList and its model, a deque.
class ModelledList {
 public:
  ModelledList(uint64_t seed, ElementKind kind, int fill)
      : random_(seed), kind_(kind), list_(std::make_unique<ChunkedList>(ChunkLimit(fill))) {}

  void Step() {
    switch (random_.Below(12)) {
      case 0:
      case 1:
        return Push(ListEnd::kHead, 1 + random_.Below(40));
      case 2:
      case 3:
        return Push(ListEnd::kTail, 1 + random_.Below(40));
      case 4:
        return Pop(ListEnd::kHead, random_.Below(30));
      case 5:
        return Pop(ListEnd::kTail, random_.Below(30));
      case 6:
        return Insert();
      case 7:
        return Replace();
      case 8:
        return EraseRange();
      case 9:
        return EraseEqual();
      case 10:
        return Find();
      default:
        return Walk();
    }
  }

  void Check() {
    ASSERT_TRUE(list_->IsConsistent());
    ASSERT_EQ(list_->Size(), model_.size());
    size_t i = 0;
    ChunkedList::Cursor cursor(*list_, {});
    for (; cursor.IsValid(); cursor.Next()) ASSERT_EQ(cursor.Element(), model_[i++]);
    ASSERT_EQ(i, model_.size());
  }

  // Continues with a copy and frees the original.
  void GoOnWithClone() {
    std::unique_ptr<Object> copy = list_->Clone();
    list_.reset(static_cast<ChunkedList*>(copy.release()));
  }

 private:
  size_t AnyIndex() { return random_.Below(model_.size()); }
  auto At(size_t index) { return model_.begin() + static_cast<ptrdiff_t>(index); }

  void Push(ListEnd end, size_t count) {
    for (; count > 0; --count) {
      std::string element = Element(random_, kind_);
      list_->Push(end, element);
      if (end == ListEnd::kHead) {
        model_.push_front(std::move(element));
      } else {
        model_.push_back(std::move(element));
      }
    }
  }
  void Pop(ListEnd end, size_t count) {
    for (; count > 0 && !model_.empty(); --count) {
      list_->Pop(end);
      end == ListEnd::kHead ? model_.pop_front() : model_.pop_back();
    }
  }
  void Insert() {
    if (model_.empty()) return;
    const size_t index = AnyIndex();
    const std::string element = Element(random_, kind_);
    if (random_.Below(2) == 0) {
      list_->InsertBefore(list_->PlaceOf(index), element);
      model_.insert(At(index), element);
    } else {
      list_->InsertAfter(list_->PlaceOf(index), element);
      model_.insert(At(index + 1), element);
    }
  }
  void Replace() {
    if (model_.empty()) return;
    const size_t index = AnyIndex();
    model_[index] = Element(random_, kind_);
    list_->Replace(list_->PlaceOf(index), model_[index]);
  }
  void EraseRange() {
    if (model_.empty()) return;
    const size_t index = AnyIndex();
    const size_t most = random_.Below(8) == 0 ? model_.size() - index : std::min<size_t>(model_.size() - index, 20);
    const size_t count = random_.Below(most + 1);
    list_->EraseRange(index, count);
    model_.erase(At(index), At(index + count));
  }
  void EraseEqual() {
    if (model_.empty()) return;
    const std::string element = model_[AnyIndex()];
    const size_t most = 1 + random_.Below(3);
    const bool from_head = random_.Below(2) == 0;
    const size_t there = static_cast<size_t>(std::count(model_.begin(), model_.end(), element));
    ASSERT_EQ(list_->EraseEqual(element, most, from_head ? ListEnd::kHead : ListEnd::kTail), std::min(there, most));
    for (size_t erased = 0; erased < std::min(there, most); ++erased) {
      auto found = from_head ? std::find(model_.begin(), model_.end(), element)
                             : std::prev(std::find(model_.rbegin(), model_.rend(), element).base());
      model_.erase(found);
    }
  }
  void Find() {
    const std::string element = model_.empty() ? "x" : model_[AnyIndex()];
    const auto found = list_->Find(element);
    ASSERT_EQ(found.has_value(), !model_.empty());
    if (!found) return;
    const auto index = static_cast<size_t>(std::find(model_.begin(), model_.end(), element) - model_.begin());
    const ChunkedList::Place place = list_->PlaceOf(index);
    ASSERT_EQ(found->chunk, place.chunk);
    ASSERT_EQ(found->index, place.index);
  }
  // Moves a cursor some steps in either direction from a random position.
  void Walk() {
    if (model_.empty()) return;
    size_t index = AnyIndex();
    const bool forward = random_.Below(2) == 0;
    ChunkedList::Cursor cursor = list_->At(index);
    for (int steps = 0; steps < 50; ++steps) {
      ASSERT_TRUE(cursor.IsValid());
      ASSERT_EQ(cursor.Element(), model_[index]);
      forward ? cursor.Next() : cursor.Previous();
      if (forward ? ++index == model_.size() : index-- == 0) {
        ASSERT_FALSE(cursor.IsValid());
        return;
      }
    }
  }

  Random random_;
  ElementKind kind_;
  std::unique_ptr<ChunkedList> list_;
  std::deque<std::string> model_;
};

class ChunkedListModel : public testing::TestWithParam<std::tuple<int, int>> {};

TEST_P(ChunkedListModel, AgreesWithDeque) {
  const auto [kind, fill] = GetParam();
  const uint64_t seed = SystemSeed();
  SCOPED_TRACE(StrCat("seed ", seed));
  ModelledList model(seed, static_cast<ElementKind>(kind), fill);
  for (int step = 0; step < 400; ++step) {
    model.Step();
    if (step % 100 == 99) model.GoOnWithClone();
    ASSERT_NO_FATAL_FAILURE(model.Check()) << "step " << step;
  }
}

INSTANTIATE_TEST_SUITE_P(KindsAndLimits, ChunkedListModel,
                         testing::Combine(testing::Range(0, kKinds), testing::Values(-5, -2, -1, 1, 3, 128)));

std::unique_ptr<ChunkedList> Filled(size_t count, int fill, auto&& element) {
  auto list = std::make_unique<ChunkedList>(ChunkLimit(fill));
  for (size_t i = 0; i < count; ++i) list->Push(ListEnd::kTail, element(i));
  return list;
}

double BytesPerElement(const std::unique_ptr<ChunkedList>& list) {
  return static_cast<double>(list->UsedBytes(0)) / static_cast<double>(list->Size());
}

TEST(ChunkedList, PacksWhatIsSealed) {
  Random random(1);
  constexpr size_t kCount = 100000;
  const auto text = [&](size_t size) { return [&random, size](size_t) { return LowerText(random, size); }; };
  EXPECT_LT(BytesPerElement(Filled(kCount, -2, text(8))), 8 * 5 / 8.0 + 0.2);
  EXPECT_LT(BytesPerElement(Filled(kCount, -2, text(14))), 14 * 5 / 8.0 + 0.3);
  EXPECT_LT(BytesPerElement(Filled(kCount, -2, [](size_t i) { return IntegerText(int64_t(i) + 5000000).Text(); })),
            2.2);
  EXPECT_LT(BytesPerElement(Filled(kCount, -2, [](size_t) { return std::string("same"); })), 0.2);
  EXPECT_LT(BytesPerElement(Filled(kCount, -2, [&](size_t) { return BinaryText(random, 30); })), 16.5);
}

TEST(ChunkedList, GivesSpareRoomBackWhenAChunkGoesInside) {
  Random random(2);
  const auto list = Filled(5000, -2, [&](size_t) { return BinaryText(random, 0) + std::string(300, 'x'); });
  EXPECT_LT(BytesPerElement(list), 300 + 8);
}

TEST(ChunkedList, FillsChunksByCountOrBytes) {
  const auto text = [](size_t) { return std::string("abcdefgh"); };  // 10 bytes of listpack
  EXPECT_EQ(Filled(10, 3, text)->ChunkCount(), 4u);
  EXPECT_EQ(Filled(10, 0, text)->ChunkCount(), 10u);
  // 7 + 10 n + 16 <= 8192 with n elements already present: the 817th is the last that fits.
  EXPECT_EQ(Filled(817, -2, text)->ChunkCount(), 1u);
  EXPECT_EQ(Filled(818, -2, text)->ChunkCount(), 2u);
  EXPECT_EQ(Filled(817, 10000, text)->ChunkCount(), 1u);
  EXPECT_EQ(Filled(818, 10000, text)->ChunkCount(), 2u);
}

TEST(ChunkedList, SplitsAFullChunkInTheMiddle) {
  const auto list = Filled(4, 4, [](size_t i) { return std::to_string(i); });
  list->InsertAfter(list->PlaceOf(1), "new");
  ASSERT_EQ(list->ChunkCount(), 2u);
  EXPECT_EQ(list->Chunk(0).Count(), 2u);
  EXPECT_EQ(list->At(2).Element(), "new");
}

// Alternating pushes and pops at a chunk boundary must not pack and unpack a chunk each time.
TEST(ChunkedList, DoesNotSealAtOnce) {
  const auto list = Filled(817, -2, [](size_t) { return std::string("abcdefgh"); });
  list->Push(ListEnd::kTail, "abcdefgh");
  EXPECT_EQ(list->ChunkCount(), 2u);
  EXPECT_FALSE(list->Chunk(0).IsSealed());
  for (int i = 0; i < 400; ++i) list->Push(ListEnd::kTail, "abcdefgh");
  EXPECT_TRUE(list->Chunk(0).IsSealed());
}

}  // namespace
}  // namespace respite
