// SlotChanges: a journal that collects the changes to keys of some slots, as requests for the node that takes the
// slots over.
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
  // The slots and the table must outlive this object.
  SlotChanges(const SlotSet& slots, const CommandTable& commands) : slots_(slots), commands_(commands) {}

  void Append(const UnitEffects& effects) override;
  // Returns the number of bytes that were not taken yet.
  size_t BufferedBytes() const override { return text_.size(); }
  bool Empty() const { return text_.empty(); }
  std::string Take() { return std::exchange(text_, {}); }
  // Returns whether all keys were changed together (FLUSHALL). Such a change cannot be sent as a change of slots.
  bool HasChangedEverything() const { return has_changed_everything_; }

  // Returns whether a request of a journal changes keys without naming any.
  static bool ChangesEverything(const CommandTable& commands, std::span<const Bytes> words);
  // Splits a request of a journal into its arguments, which are valid until the next call.
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
  int selected_db_ = -1;  // at the end of text_, including text that was taken
  bool has_changed_everything_ = false;
  Words words_;
  Effects wanted_;  // kept to reuse its memory
};

}  // namespace respite
