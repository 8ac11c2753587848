// Reads and writes sorted sets in RDB form.
#include <algorithm>
#include <cmath>
#include <memory>

#include "datatypes/sorted_set.h"
#include "persistence/rdb_types.h"

namespace respite {

namespace {

constexpr char kRepeatedSortedSetMember[] = "Duplicate zset fields detected";
constexpr char kNotANumber[] = "Zset with NAN score detected";

// A member and its score, as read from the file. `member` is a view of the input (an RdbText or a listpack), which must
// stay alive.
struct Scored {
  PackedElement member;
  double score;
};

// The members of a large sorted set with their scores, in any order, and an index of them. Owns them until TakeTable
// moves them into a ScoreTable.
class Records {
 public:
  explicit Records(const HashKey& hash_key) : index_(hash_key) {}
  Records(const Records&) = delete;
  Records& operator=(const Records&) = delete;
  ~Records() {
    for (const ScoreTree::Item& item : items_) ScoredMember::Destroy(item.member);
  }

  // Adds a member. Returns false if the member was already added.
  bool Add(Bytes member, double score) {
    const uint64_t hash = index_.Hash(member);
    if (index_.Find(member, hash) != nullptr) return false;
    ScoreTable::PreparePool(pool_, items_.size());
    ScoredMember* record = ScoredMember::Create(score, member, pool_.get());
    index_.Insert(record, hash);
    items_.push_back({score, record});
    return true;
  }
  std::unique_ptr<ScoreTable> TakeTable() {
    Sort();
    auto table = std::make_unique<ScoreTable>(std::move(index_), items_, std::move(pool_));
    items_.clear();
    return table;
  }

 private:
  // Redis and Respite write the highest score first, so reversing the records is usually enough to sort them.
  void Sort() {
    std::reverse(items_.begin(), items_.end());
    auto is_before = [](const ScoreTree::Item& a, const ScoreTree::Item& b) {
      return a.score < b.score || (a.score == b.score && a.member->Member() < b.member->Member());
    };
    if (!std::is_sorted(items_.begin(), items_.end(), is_before)) std::sort(items_.begin(), items_.end(), is_before);
  }

  std::unique_ptr<SlabPool> pool_;  // memory of the records, before items_ so that it outlives them; null: none
  MemberIndex index_;
  std::vector<ScoreTree::Item> items_;
};

RdbValueResult MakeSortedSetTable(const std::vector<Scored>& members, const RdbEntryProperties& target) {
  Records records(target.hash_key);
  for (const Scored& one : members)
    if (!records.Add(ElementText(one.member).View(), one.score)) return BadValueFault(kRepeatedSortedSetMember);
  return MakeObjectEntry(target, ValueType::kSortedSet, records.TakeTable());
}

void SortByScore(std::vector<Scored>& members) {
  auto is_before = [](const Scored& a, const Scored& b) {
    return a.score < b.score || (a.score == b.score && ElementText(a.member).View() < ElementText(b.member).View());
  };
  if (!std::is_sorted(members.begin(), members.end(), is_before)) std::sort(members.begin(), members.end(), is_before);
}

RdbValueResult MakeListpackSet(std::vector<Scored> members, const RdbEntryProperties& target) {
  SortByScore(members);
  ListpackMaker maker;
  for (const Scored& one : members) {
    maker.Append(one.member);
    maker.Append(PackedScore(one.score).Element());
  }
  return MakePackedEntry(target, ValueType::kSortedSet, ValueForm::kListpack, maker.Take());
}

RdbValueResult MakeSortedSet(std::vector<Scored> members, const RdbEntryProperties& target) {
  if (members.size() > target.limits.zset_max_listpack_entries) return MakeSortedSetTable(members, target);
  PackedElements elements;
  for (const Scored& one : members) elements.push_back(one.member);
  if (HasEqualElements(elements, 1, target.hash_key)) return BadValueFault(kRepeatedSortedSetMember);
  return MakeListpackSet(std::move(members), target);
}

double ReadScore(RdbInput& input, rdb::Type type) {
  return type == rdb::Type::kSortedSetAscii ? input.ScoreText() : input.Double();
}

RdbValueResult ReadLargeSortedSet(RdbInput& input, rdb::Type type, uint64_t count, const RdbEntryProperties& target) {
  Records records(target.hash_key);
  for (; count > 0 && !input.Failed(); --count) {
    const RdbText member = input.Text();
    const double score = ReadScore(input, type);
    if (std::isnan(score)) return BadValueFault(kNotANumber);
    if (!records.Add(member.View(), score)) return BadValueFault(kRepeatedSortedSetMember);
    input.FreeTexts();
  }
  return MakeObjectEntry(target, ValueType::kSortedSet, records.TakeTable());
}

RdbValueResult ReadPlainSortedSet(RdbInput& input, rdb::Type type, const RdbEntryProperties& target) {
  const uint64_t count = input.Count(2);
  if (count == 0) return EmptyValueFault();
  if (count > target.limits.zset_max_listpack_entries) return ReadLargeSortedSet(input, type, count, target);
  std::vector<RdbText> texts;
  std::vector<double> scores;
  for (uint64_t i = 0; i < count && !input.Failed(); ++i) {
    texts.push_back(input.Text());
    scores.push_back(ReadScore(input, type));
    if (std::isnan(scores.back())) return BadValueFault(kNotANumber);
  }
  const PackedElements elements = ElementsOf(texts);
  std::vector<Scored> members;
  for (size_t i = 0; i < elements.size(); ++i) members.push_back({elements[i], scores[i]});
  if (HasLongElement(elements, target.limits.zset_max_listpack_value)) return MakeSortedSetTable(members, target);
  return MakeSortedSet(std::move(members), target);
}

std::optional<double> ScoreOf(const PackedElement& element) {
  if (element.is_integer) return static_cast<double>(element.integer);
  return ParseDouble(element.text);
}

// Returns true if all scores are numbers and the members are in the order of their scores.
bool IsInOrder(const CanonicalListpack& listpack) {
  std::optional<ElementText> member_before;
  double score_before = 0;
  for (size_t i = 0; i < listpack.Count(); i += 2) {
    const auto score = ScoreOf(listpack.At(i + 1));
    const ElementText member(listpack.At(i));
    if (!score) return false;
    if (member_before && (*score < score_before || (*score == score_before && member.View() < member_before->View())))
      return false;
    member_before = member;
    score_before = *score;
  }
  return true;
}

// Stores the listpack unchanged if possible, so that the text of each score stays the same. Returns nullopt if the
// listpack must be rebuilt.
std::optional<RdbValueResult> KeepListpack(Bytes bytes, const RdbEntryProperties& target) {
  const CanonicalListpack listpack(bytes);
  if (!MayStoreUnchanged(listpack, 2, target.limits.zset_max_listpack_entries, target) || !IsInOrder(listpack))
    return std::nullopt;
  return MakePackedEntry(target, ValueType::kSortedSet, ValueForm::kListpack, bytes);
}

RdbValueResult ReadPacked(RdbInput& input, rdb::Type type, const RdbEntryProperties& target) {
  const RdbText text = input.Text();
  if (type == rdb::Type::kSortedSetListpack)
    if (auto kept = KeepListpack(text.View(), target)) return std::move(*kept);
  const auto elements =
      type == rdb::Type::kSortedSetZiplist ? ZiplistElements(text.View()) : ListpackElements(text.View());
  if (!elements || elements->size() % 2 != 0) {
    return BadValueFault(type == rdb::Type::kSortedSetZiplist ? "Zset ziplist integrity check failed."
                                                              : "Zset listpack integrity check failed.");
  }
  if (elements->empty()) return EmptyValueFault();
  std::vector<Scored> members;
  for (size_t i = 0; i < elements->size(); i += 2) {
    const auto score = ScoreOf((*elements)[i + 1]);
    if (!score) return BadValueFault(kNotANumber);
    members.push_back({(*elements)[i], *score});
  }
  return MakeSortedSet(std::move(members), target);
}

}  // namespace

RdbValueResult ReadRdbSortedSet(RdbInput& input, rdb::Type type, const RdbEntryProperties& target) {
  if (type == rdb::Type::kSortedSetZiplist || type == rdb::Type::kSortedSetListpack)
    return ReadPacked(input, type, target);
  return ReadPlainSortedSet(input, type, target);
}

void WriteRdbSortedSet(RdbOutput& out, const Entry& entry) {
  if (entry.Form() != ValueForm::kObject) return out.Text(entry.Packed());
  const auto& tree = static_cast<const ScoreTable&>(*entry.ObjectValue()).tree();
  out.Length(tree.Size());
  for (auto at = tree.Last(); !at.AtEnd(); at.Previous()) {
    out.Text((*at).member->Member());
    out.Double((*at).score);
  }
}

}  // namespace respite
