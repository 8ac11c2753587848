// HiddenSlots: hash slots that this node is importing from another node of the cluster. Their keys are in the
// databases, but are invisible until this node owns the slots. KEYS, SCAN, RANDOMKEY and DBSIZE skip them, and they are
// not expired or evicted.
#pragma once

#include <algorithm>
#include <map>
#include <string>
#include <utility>

#include "base/slot_set.h"

namespace respite {

class HiddenSlots {
 public:
  // Each set has the name of the migration that imports it. No slot is in two sets.
  using Sets = std::map<std::string, SlotSet, std::less<>>;

  // Hides the slots except those that another set hides already, which only a damaged file would cause. Does nothing if
  // a set has this name.
  void Hide(std::string name, SlotSet slots) {
    for (const auto& [other, hidden] : sets_) hidden.ForEach([&](int slot) { slots.Remove(slot); });
    sets_.emplace(std::move(name), slots);
  }
  // Does nothing if no set has this name.
  void Reveal(Bytes name) {
    if (const auto found = sets_.find(name); found != sets_.end()) sets_.erase(found);
  }
  void Clear() { sets_.clear(); }

  bool Empty() const { return sets_.empty(); }
  const Sets& All() const { return sets_; }
  // Cost of both functions: O(sets); there is rarely more than one set.
  bool Has(int slot) const {
    return std::any_of(sets_.begin(), sets_.end(), [slot](const auto& one) { return one.second.Has(slot); });
  }
  bool HasKey(Bytes key) const { return !sets_.empty() && Has(KeySlot(key)); }

 private:
  Sets sets_;
};

}  // namespace respite
