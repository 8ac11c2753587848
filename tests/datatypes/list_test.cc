#include "datatypes/list.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <deque>
#include <string>
#include <vector>

#include "base/random.h"
#include "base/str_cat.h"

namespace respite {
namespace {

// A list at a key in its own database.
class Place {
 public:
  explicit Place(int max_listpack_size = -2) : database_(HashKey{1}) {
    limits.list_max_listpack_size = max_listpack_size;
  }

  List Open() { return List({ValueSlot(database_, Current()), limits, 0}); }
  bool IsPacked() { return Current()->Form() == ValueForm::kListpack; }

  EncodingLimits limits;

 private:
  Entry* Current() {
    Entry* entry = database_.Find("key");
    if (entry != nullptr) return entry;
    return database_.Add(
        EntryPtr(Entry::CreatePacked("key", ValueType::kList, ValueForm::kListpack, List::InitialPacked(), 0, 0)));
  }

  Database database_;
};

void Push(List& list, ListEnd end, Bytes element) { list.Push(end, {&element, 1}); }

std::vector<std::string> Elements(const List& list) {
  std::vector<std::string> elements;
  for (ListCursor cursor(list, 0); cursor.IsValid(); cursor.Next()) elements.emplace_back(cursor.Element());
  return elements;
}

std::vector<std::string> Backward(const List& list) {
  std::vector<std::string> elements;
  for (ListCursor cursor(list, list.Size() - 1); cursor.IsValid(); cursor.Previous()) {
    elements.emplace_back(cursor.Element());
  }
  return elements;
}

std::vector<std::string> Range(const List& list, size_t index, size_t count) {
  std::vector<std::string> elements;
  list.VisitRange(index, count, [&](Bytes element) { elements.emplace_back(element); });
  return elements;
}

std::string Element(Random& random) {
  if (random.Below(3) == 0) return IntegerText(static_cast<int64_t>(random.Below(300)) - 100).Text();
  return std::string(random.Below(random.Below(10) == 0 ? 400 : 12), static_cast<char>('a' + random.Below(3)));
}

class ListModel : public testing::TestWithParam<int> {
 protected:
  void Step() {
    List list = place_.Open();
    switch (random_.Below(9)) {
      case 0:
      case 1:
      case 2:
        return PushSome(list);
      case 3:
        return PopSome(list);
      case 4:
        return Rotate(list);
      case 5:
        return Insert(list);
      case 6:
        return Replace(list);
      case 7:
        return EraseRange(list);
      default:
        return EraseEqual(list);
    }
  }

  ListEnd AnyEnd() { return random_.Below(2) == 0 ? ListEnd::kHead : ListEnd::kTail; }
  auto At(size_t index) { return model_.begin() + static_cast<ptrdiff_t>(index); }
  void PushModel(ListEnd end, std::string element) {
    end == ListEnd::kHead ? model_.push_front(std::move(element)) : model_.push_back(std::move(element));
  }
  std::string PopModel(ListEnd end) {
    std::string element = end == ListEnd::kHead ? model_.front() : model_.back();
    end == ListEnd::kHead ? model_.pop_front() : model_.pop_back();
    return element;
  }

  void PushSome(List& list) {
    const ListEnd end = AnyEnd();
    std::vector<std::string> elements(1 + random_.Below(random_.Below(4) == 0 ? 60 : 2));
    for (std::string& element : elements) element = Element(random_);
    list.Push(end, std::vector<Bytes>(elements.begin(), elements.end()));
    for (std::string& element : elements) PushModel(end, element);
  }
  void PopSome(List& list) {
    const ListEnd end = AnyEnd();
    for (size_t count = random_.Below(20); count > 0 && !model_.empty(); --count) {
      list.Pop(end);
      PopModel(end);
    }
  }
  void Rotate(List& list) {
    if (model_.empty()) return;
    const ListEnd from = AnyEnd();
    const ListEnd to = AnyEnd();
    list.Rotate(from, to);
    PushModel(to, PopModel(from));
  }
  void Insert(List& list) {
    const std::string pivot = Element(random_);
    const std::string element = Element(random_);
    const bool before = random_.Below(2) == 0;
    const auto found = std::find(model_.begin(), model_.end(), pivot);
    ASSERT_EQ(list.Insert(pivot, before ? ListSide::kBefore : ListSide::kAfter, element), found != model_.end());
    if (found != model_.end()) model_.insert(before ? found : found + 1, element);
  }
  void Replace(List& list) {
    const size_t index = random_.Below(model_.size() + 1);
    const std::string element = Element(random_);
    ASSERT_EQ(list.Replace(index, element), index < model_.size());
    if (index < model_.size()) model_[index] = element;
  }
  void EraseRange(List& list) {
    const size_t index = random_.Below(model_.size() + 1);
    const size_t count = random_.Below(std::min<size_t>(model_.size() - index, 40) + 1);
    list.EraseRange(index, count);
    model_.erase(At(index), At(index + count));
  }
  void EraseEqual(List& list) {
    const std::string element = Element(random_);
    const auto there = static_cast<size_t>(std::count(model_.begin(), model_.end(), element));
    const size_t most = 1 + random_.Below(3);
    const ListEnd from = AnyEnd();
    ASSERT_EQ(list.EraseEqual(element, most, from), std::min(there, most));
    for (size_t i = 0; i < std::min(there, most); ++i) {
      model_.erase(from == ListEnd::kHead ? std::find(model_.begin(), model_.end(), element)
                                          : std::prev(std::find(model_.rbegin(), model_.rend(), element).base()));
    }
  }

  void Check() {
    const List list = place_.Open();
    ASSERT_EQ(list.Size(), model_.size());
    ASSERT_EQ(list.IsEmpty(), model_.empty());
    const std::vector<std::string> expected(model_.begin(), model_.end());
    ASSERT_EQ(Elements(list), expected);
    ASSERT_EQ(Backward(list), std::vector<std::string>(expected.rbegin(), expected.rend()));
    const size_t first = random_.Below(expected.size() + 1), count = random_.Below(expected.size() - first + 1);
    const auto from = expected.begin() + static_cast<std::ptrdiff_t>(first);
    ASSERT_EQ(Range(list, first, count), std::vector<std::string>(from, from + static_cast<std::ptrdiff_t>(count)));
  }

  uint64_t seed_ = SystemSeed();
  Random random_{seed_};
  Place place_{GetParam()};
  std::deque<std::string> model_;
};

TEST_P(ListModel, AgreesWithDeque) {
  SCOPED_TRACE(StrCat("seed ", seed_));
  const int least_changes = GetParam() == 1 ? 0 : 3;
  int changes = 0;
  bool was_packed = true;
  // A list limited in bytes rarely changes its encoding, so this continues until it has changed in both directions.
  for (int step = 0; step < 1500 || (changes < least_changes && step < 50'000); ++step) {
    ASSERT_NO_FATAL_FAILURE(Step());
    ASSERT_NO_FATAL_FAILURE(Check()) << "step " << step;
    changes += place_.IsPacked() != was_packed ? 1 : 0;
    was_packed = place_.IsPacked();
  }
  EXPECT_GE(changes, least_changes) << "the encoding should change both ways";
}

INSTANTIATE_TEST_SUITE_P(Limits, ListModel, testing::Values(-1, 1, 4, 40));

TEST(List, BecomesLargeAtTheLimitInElements) {
  Place place(3);
  List list = place.Open();
  for (int i = 0; i < 3; ++i) Push(list, ListEnd::kTail, "x");
  EXPECT_TRUE(place.IsPacked());
  Push(list, ListEnd::kTail, "x");
  EXPECT_FALSE(place.IsPacked());
}

TEST(List, BecomesLargeAtTheLimitInBytes) {
  Place place(-1);
  List list = place.Open();
  Push(list, ListEnd::kTail, "x");                          // a listpack of 10 bytes
  Push(list, ListEnd::kTail, std::string(4096 - 10, 'y'));  // counted without the overhead of the listpack
  EXPECT_TRUE(place.IsPacked());
  Push(list, ListEnd::kTail, "");
  EXPECT_FALSE(place.IsPacked());
}

TEST(List, CountsAllThatIsPushedTogether) {
  Place place(3);
  List list = place.Open();
  const std::vector<Bytes> elements(4, "x");
  list.Push(ListEnd::kHead, elements);
  EXPECT_FALSE(place.IsPacked());
}

TEST(List, ReturnsToAListpackAtHalfTheLimit) {
  Place place(6);
  List list = place.Open();
  for (int i = 0; i < 7; ++i) Push(list, ListEnd::kTail, std::to_string(i));
  for (int i = 0; i < 3; ++i) list.Pop(ListEnd::kTail);
  EXPECT_FALSE(place.IsPacked()) << "four are left";
  list.Rotate(ListEnd::kHead, ListEnd::kTail);
  EXPECT_FALSE(place.IsPacked());
  list.Pop(ListEnd::kTail);
  EXPECT_TRUE(place.IsPacked());
  EXPECT_EQ(Elements(list), (std::vector<std::string>{"1", "2", "3"}));
}

// Redis makes room before it checks whether the element can be added.
TEST(List, MayChangeItsEncodingInVain) {
  const std::string large(5000, 'x');
  Place inserted(-1);
  List list = inserted.Open();
  Push(list, ListEnd::kTail, "a");
  EXPECT_FALSE(list.Insert("none", ListSide::kAfter, large));
  EXPECT_FALSE(inserted.IsPacked());

  Place replaced(-1);
  List other = replaced.Open();
  Push(other, ListEnd::kTail, "a");
  EXPECT_FALSE(other.Replace(1, large));
  EXPECT_FALSE(replaced.IsPacked());
}

TEST(List, ReadsAnAbsentListAsAnEmptyOne) {
  const EncodingLimits limits;
  const List list({ValueSlot(), limits, 0});
  EXPECT_EQ(list.Size(), 0u);
  EXPECT_TRUE(list.IsEmpty());
  EXPECT_FALSE(ListCursor(list, 0).IsValid());
}

}  // namespace
}  // namespace respite
