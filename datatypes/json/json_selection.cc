// Selects values by paths: the functions of json_path.h that evaluate steps and filters.
#include <algorithm>
#include <iterator>
#include <utility>

#include "datatypes/json/json_expression.h"
#include "datatypes/json/json_path.h"

namespace respite {

namespace {

enum class JsonSelectionPurpose : uint8_t { kRead, kChange };  // kChange: unpacks arrays whose elements it selects

// Applies one step of a path to values, and appends the values that the step selects to `found`.
class StepSelection {
 public:
  StepSelection(const JsonStep& step, const JsonValue& root, JsonSelectionPurpose purpose, JsonBudget& budget,
                JsonMatches& found)
      : step_(step), root_(root), purpose_(purpose), budget_(budget), found_(found) {}

  void Apply(const JsonValue& value) {
    if (!budget_.Spend(1)) return;
    ApplyToOne(value);
    if (!step_.is_recursive) return;
    if (value.IsPacked()) {
      budget_.Spend(value.Size());
      return;
    }
    ForEachInside(value, [&](const JsonElement& inside) {
      if (inside->IsContainer()) {
        Apply(*inside);
      } else {
        budget_.Spend(1);
      }
    });
  }

 private:
  template <class Visit>
  void ForEachInside(const JsonValue& value, Visit&& visit) {
    if (value.Is(JsonKind::kArray)) {
      const JsonElements elements = value.Elements();
      for (size_t i = 0; i < elements.size(); ++i) {
        if (budget_.IsSpent()) return;
        visit(elements[i]);
      }
    } else if (value.Is(JsonKind::kObject)) {
      for (const JsonMember& member : value.Members()) {
        if (budget_.IsSpent()) return;
        visit(JsonElement(&member.value));
      }
    }
  }

  // A selection for a change unpacks an array of packed numbers before it selects elements, so that each element has a
  // JsonValue in memory, which can be changed.
  void UnpackToChange(const JsonValue& value) {
    if (purpose_ == JsonSelectionPurpose::kChange && value.IsPacked()) const_cast<JsonValue&>(value).Unpack();
  }

  void Add(JsonElement element, const JsonValue& parent) {
    if (budget_.Spend(1)) found_.emplace_back(std::move(element), &parent);
  }

  // Spends one step for each name or index of a union such as [1,2], also for those that select nothing. A single name
  // or index is free here, because looking it up costs no more than the visit of a value. Returns false if the budget
  // is spent.
  bool SpendUnion(size_t parts) { return parts == 1 ? !budget_.IsSpent() : budget_.Spend(parts); }

  void ApplyToOne(const JsonValue& value) {
    switch (step_.kind) {
      case JsonStep::Kind::kNames:
        if (!value.Is(JsonKind::kObject) || !SpendUnion(step_.names.size())) return;
        for (const std::string& name : step_.names) {
          if (!budget_.SpendLookUp(name)) return;
          if (const JsonValue* member = value.Find(name)) Add(JsonElement(member), value);
        }
        return;
      case JsonStep::Kind::kAll:
        UnpackToChange(value);
        return ForEachInside(value, [&](const JsonElement& inside) { Add(inside, value); });
      case JsonStep::Kind::kIndexes:
        if (value.Is(JsonKind::kArray)) AddIndexes(value);
        return;
      case JsonStep::Kind::kSlice:
        if (value.Is(JsonKind::kArray)) AddSlice(value);
        return;
      case JsonStep::Kind::kFilter:
        UnpackToChange(value);
        return ForEachInside(value, [&](const JsonElement& inside) {
          const JsonMatch current(inside, &value);
          if (Evaluate(*step_.filter, {root_, current, budget_}).IsTrue()) Add(inside, value);
        });
    }
  }

  void AddIndexes(const JsonValue& array) {
    if (!SpendUnion(step_.indexes.size())) return;
    const auto size = static_cast<int64_t>(array.Size());
    for (const int64_t index : step_.indexes) {
      // As in Redis, an index before the beginning of the array means its first element.
      const int64_t place = index < 0 ? std::max<int64_t>(index + size, 0) : index;
      if (place >= size) continue;
      UnpackToChange(array);
      Add(array.Elements()[static_cast<size_t>(place)], array);
    }
  }

  void AddSlice(const JsonValue& array) {
    const auto size = static_cast<int64_t>(array.Size());
    const auto bound = [size](int64_t index) { return std::clamp<int64_t>(index < 0 ? index + size : index, 0, size); };
    const int64_t end = step_.end ? bound(*step_.end) : size;
    int64_t i = step_.start ? bound(*step_.start) : 0;
    if (i < end) UnpackToChange(array);
    while (i < end) {
      Add(array.Elements()[static_cast<size_t>(i)], array);
      if (step_.stride >= end - i) return;
      i += step_.stride;
    }
  }

  const JsonStep& step_;
  const JsonValue& root_;
  const JsonSelectionPurpose purpose_;
  JsonBudget& budget_;
  JsonMatches& found_;
};

JsonMatches SelectSteps(const JsonStep* first, const JsonStep* last, const JsonMatch& start, const JsonValue& root,
                        JsonSelectionPurpose purpose, JsonBudget& budget) {
  JsonMatches current = {start};
  for (const JsonStep* step = first; step != last; ++step) {
    JsonMatches next;
    StepSelection selection(*step, root, purpose, budget, next);
    for (const JsonMatch& match : current) {
      if (match.Value().IsContainer()) selection.Apply(match.Value());
    }
    current = std::move(next);
  }
  return current;
}

}  // namespace

bool JsonBudget::SpendCopy(const JsonValue& value) {
  if (value.Is(JsonKind::kString)) return SpendBytes(value.AsString().size());
  if (!Spend(1)) return false;
  if (value.IsPacked()) return Spend(value.Size());
  if (value.Is(JsonKind::kArray)) {
    return std::ranges::all_of(value.Elements(), [&](const JsonValue& element) { return SpendCopy(element); });
  }
  if (!value.Is(JsonKind::kObject)) return true;
  return std::ranges::all_of(
      value.Members(), [&](const JsonMember& member) { return SpendCopy(member.name) && SpendCopy(member.value); });
}

void SelectJson(const JsonSteps& steps, const JsonMatch& start, const JsonValue& root, JsonBudget& budget,
                JsonMatches& matches) {
  JsonMatches found =
      SelectSteps(steps.data(), steps.data() + steps.size(), start, root, JsonSelectionPurpose::kRead, budget);
  matches.insert(matches.end(), std::move_iterator(found.begin()), std::move_iterator(found.end()));
}

bool JsonPath::IsStatic() const {
  return computed_ == nullptr && std::ranges::all_of(steps_, [](const JsonStep& step) { return step.SelectsOne(); });
}

JsonMatches JsonPath::Select(const JsonValue& root, JsonBudget& budget) const {
  return SelectSteps(steps_.data(), steps_.data() + steps_.size(), {&root, nullptr}, root, JsonSelectionPurpose::kRead,
                     budget);
}

JsonMatches JsonPath::SelectToChange(JsonValue& root, JsonBudget& budget) const {
  return SelectSteps(steps_.data(), steps_.data() + steps_.size(), {&root, nullptr}, root,
                     JsonSelectionPurpose::kChange, budget);
}

JsonMatches JsonPath::SelectParents(const JsonValue& root, JsonBudget& budget) const {
  return SelectSteps(steps_.data(), steps_.data() + steps_.size() - 1, {&root, nullptr}, root,
                     JsonSelectionPurpose::kRead, budget);
}

std::vector<JsonValue> JsonPath::Compute(const JsonValue& root, JsonBudget& budget) const {
  const JsonMatch start{&root, nullptr};
  JsonOperand result = Evaluate(*computed_, {root, start, budget});
  std::vector<JsonValue> values;
  switch (result.kind) {
    case JsonOperand::Kind::kNothing:
      break;
    case JsonOperand::Kind::kTruth:
      values.push_back(JsonValue::Boolean(result.truth));
      break;
    case JsonOperand::Kind::kValue:
      values.push_back(std::move(result.value));
      break;
    case JsonOperand::Kind::kNodes:
      for (const JsonMatch& node : result.nodes) {
        if (!budget.SpendCopy(node.Value())) break;
        values.push_back(node.Value().Clone());
      }
  }
  return values;
}

}  // namespace respite
