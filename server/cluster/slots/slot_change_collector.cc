#include "server/cluster/slots/slot_change_collector.h"

#include <algorithm>
#include <cassert>

#include "base/number_text.h"
#include "server/catalogue/command_table.h"
#include "server/catalogue/key_finder.h"
#include "server/dataset/journal.h"

namespace respite {

namespace {

// Returns the command of a propagated request, or null. Such a request has the name that the command had before
// rename-command.
const Command* Find(const CommandTable& commands, std::span<const Bytes> words) {
  const Command* const renamed = commands.HasRenamedCommands() ? commands.FindRenamed(words[0]) : nullptr;
  const Command* const command = renamed != nullptr ? renamed : commands.Find(words[0]);
  if (command == nullptr || command->subcommands.empty() || words.size() < 2) return command;
  return commands.FindSubcommand(*command, words[1]);
}

// Removes "*<number>\r\n" or "$<number>\r\n" from the front of `text`, and returns the number. Requires: text that this
// server wrote.
size_t TakeNumber(Bytes& text) {
  const size_t end = text.find('\r');
  const auto number = ParseInteger(text.substr(1, end - 1));
  assert(number && "a journal has requests in RESP");
  text.remove_prefix(end + 2);
  return static_cast<size_t>(*number);
}

}  // namespace

std::span<const Bytes> SlotChangeCollector::RequestSplitter::ArgumentsOf(Bytes request) {
  words_.clear();
  for (size_t left = TakeNumber(request); left > 0; --left) {
    const size_t size = TakeNumber(request);
    words_.push_back(request.substr(0, size));
    request.remove_prefix(size + 2);
  }
  return words_;
}

// Returns whether the command changes keys without naming them. FUNCTION commands do not, because functions belong to a
// node and not to a slot.
bool SlotChangeCollector::ChangesEverything(const CommandTable& commands, std::span<const Bytes> arguments) {
  const Command* const command = Find(commands, arguments);
  if (command == nullptr || !command->Is(kWrite) || command->Spec().group == CommandGroup::kScripting) return false;
  return KeysForAclCheck(command->Spec(), arguments).IsEmpty();
}

bool SlotChangeCollector::ExamineRequest(std::span<const Bytes> arguments) {
  const Command* const command = Find(commands_, arguments);
  if (command == nullptr) return false;
  const KeyList keys = KeysForAclCheck(command->Spec(), arguments);
  if (keys.IsEmpty() && ChangesEverything(commands_, arguments)) has_changed_everything_ = true;
  return std::any_of(keys.begin(), keys.end(),
                     [&](const KeyRef& key) { return slots_.Has(KeySlot(arguments[key.index])); });
}

void SlotChangeCollector::Append(const PropagatedGroup& group) {
  struct Output {
    std::string& text;
    void Piece(Bytes piece) { text.append(piece); }
    void Select(const std::string& select) { text.append(select); }
  };
  Output output{text_};
  for (size_t i = 0; i < group.Count(); ++i) {
    if (ExamineRequest(splitter_.ArgumentsOf(group[i].request))) PutAfterSelect(group[i], selected_db_, output);
  }
}

}  // namespace respite
