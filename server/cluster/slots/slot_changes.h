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

class SlotChanges final : public Journal {  // collects changes to keys of some slots
 public:
  // The slots and the table must outlive this object.
  SlotChanges(const SlotSet& slots, const CommandTable& commands) : slots_(slots), commands_(commands) {}

  void Append(const PropagatedGroup& group) override;             // collects changes to keys of the slots
  size_t BufferedBytes() const override { return text_.size(); }  // bytes of changes not taken
  bool IsEmpty() const { return text_.empty(); }                  // there are no changes to take
  std::string Take() { return std::exchange(text_, {}); }         // returns and removes the changes
  // Returns whether a command has changed all keys (FLUSHALL). Such a change cannot be sent as a change of some slots.
  bool HasChangedEverything() const { return has_changed_everything_; }  // for example, by FLUSHALL

  // Returns whether a request of a journal changes keys without naming any, as FLUSHALL does.
  static bool ChangesEverything(const CommandTable& commands, std::span<const Bytes> arguments);  // such as FLUSHALL
  class RequestSplitter {  // splits a request of a journal into arguments, valid until the next call
   public:
    std::span<const Bytes> ArgumentsOf(Bytes request);  // splits one RESP request

   private:
    std::vector<Bytes> words_;  // the arguments of the last request
  };

 private:
  bool ExamineRequest(std::span<const Bytes> arguments);  // true: it changes a key of the slots

  const SlotSet& slots_;          // the slots whose changes are collected
  const CommandTable& commands_;  // finds which arguments of a request are keys
  std::string text_;
  int selected_db_ = -1;                 // the database in which text_ ends, even if it was taken; -1: none yet
  bool has_changed_everything_ = false;  // FLUSHALL or a similar command has run
  RequestSplitter words_;                // reused for each request
  PropagatedCommands wanted_;            // the changes of one group to keys of the slots; kept to reuse its memory
};

}  // namespace respite
