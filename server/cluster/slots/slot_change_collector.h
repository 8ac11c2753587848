// SlotChangeCollector: collects the changes to keys of some slots while SlotExport sends these slots to another node.
// The changes are requests, which SlotExport sends after the snapshot. They are not in transactions, because clients
// see the slots at the target only when all changes were applied.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/slot_set.h"
#include "protocol/request_parser.h"
#include "server/dataset/journal.h"

namespace respite {

class CommandTable;

class SlotChangeCollector final : public Journal {  // collects the changes to keys of some slots, as requests
 public:
  // The slots and the table must outlive this object.
  SlotChangeCollector(const SlotSet& slots, const CommandTable& commands) : slots_(slots), commands_(commands) {}

  void Append(const PropagatedGroup& group) override;             // collects changes to keys of the slots
  size_t BufferedBytes() const override { return text_.size(); }  // bytes of changes that Take will return
  bool IsEmpty() const { return text_.empty(); }                  // true: there are no changes for Take to return
  std::string Take() { return std::exchange(text_, {}); }         // returns and removes the collected changes
  // Returns true if FLUSHALL or a similar command ran. Such a command cannot be sent to the node that receives the
  // slots, because that node also has keys of other slots.
  bool HasChangedEverything() const { return has_changed_everything_; }  // true: FLUSHALL or a similar command ran

  // Returns whether a propagated request changes keys without naming them, as FLUSHALL does.
  static bool ChangesEverything(const CommandTable& commands,  // true: a write that names no keys, such as FLUSHALL
                                std::span<const Bytes> arguments);
  class RequestSplitter {  // splits a propagated request into arguments, valid until the next call
   public:
    std::span<const Bytes> ArgumentsOf(Bytes request);  // the arguments of a RESP request

   private:
    std::vector<Bytes> words_;  // the arguments of the last request
  };

 private:
  bool ExamineRequest(std::span<const Bytes> arguments);  // true: it names a key of the slots; also notes FLUSHALL

  const SlotSet& slots_;                 // the slots whose changes are collected
  const CommandTable& commands_;         // finds which arguments of a request are keys
  std::string text_;                     // the collected changes, as RESP requests
  int selected_db_ = -1;                 // database of the last collected change, also after Take; -1: none yet
  bool has_changed_everything_ = false;  // FLUSHALL or a similar command has run
  RequestSplitter splitter_;             // splits requests; a member only to reuse its memory
};

}  // namespace respite
