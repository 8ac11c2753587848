// SlotChanges: a journal of the changes to the keys of some slots, as requests for the node that takes these slots
// over.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/slot_set.h"
#include "protocol/request_parser.h"
#include "server/dataset/journal.h"

namespace respite {

class CommandTable;

class SlotChanges final : public Journal {
 public:
  // The slots and the table must outlive it.
  SlotChanges(const SlotSet& slots, const CommandTable& commands) : slots_(slots), commands_(commands) {}

  void Append(const UnitEffects& effects) override;
  // What was not taken.
  size_t BufferedBytes() const override { return text_.size(); }
  bool Empty() const { return text_.empty(); }
  std::string Take() { return std::exchange(text_, {}); }
  // All keys were changed at once (FLUSHALL), which is no change of slots.
  bool HasChangedEverything() const { return has_changed_everything_; }

  // Whether the request of a journal changes keys without naming any.
  static bool ChangesEverything(const CommandTable& commands, std::span<const Bytes> words);
  // The words of the request of a journal, valid until the next call.
  class Words {
   public:
    std::span<const Bytes> Of(Bytes request);

   private:
    std::vector<Bytes> words_;
  };

 private:
  bool IsWanted(std::span<const Bytes> words);

  const SlotSet& slots_;
  const CommandTable& commands_;
  std::string text_;
  int selected_db_ = -1;  // by text_ and what was taken of it
  bool has_changed_everything_ = false;
  Words words_;
  Effects wanted_;  // kept for its memory
};

}  // namespace respite
