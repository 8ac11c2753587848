// PropagatedCommands: the commands that the append-only file and replicas get for a command that ran: the command
// itself, or other commands in its place. Propagated commands contain absolute deadlines and final values, so that they
// have the same result on any server at any time. Append-only files and replication streams consist of propagated
// commands.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/bytes.h"
#include "protocol/request_text.h"

namespace respite {

struct JournalEntry {                                                               // one propagated command
  enum Target : uint8_t { kNobody = 0, kFile = 1, kReplicas = 2, kEverybody = 3 };  // bits
  // A bit of `targets` in addition to those of Target: replicas get the command outside the MULTI and EXEC of its
  // group, after them, unless it would then have another effect (CommandsAfterExec). This is for a command that an
  // older replica may not know, because Redis refuses a whole transaction that contains an unknown command.
  static constexpr uint8_t kAlone = 4;  // bit of `targets`: replicas may get it after the group's MULTI … EXEC

  int db;
  uint8_t targets;  // bits of Target: who gets the command; also kAlone, if it applies
  Bytes request;    // the command as a RESP array
};

// The propagated commands of all open Units, as RESP text. The text of each command is made once, for all replicas and
// the append-only file, in memory that is reused. Units may be nested; each Unit removes its own commands when it ends.
class PropagatedCommands {  // commands that the open Units (executions) will propagate to replicas and the AOF
 public:
  void Add(int db, std::span<const Bytes> words, uint8_t targets = JournalEntry::kEverybody);
  void AddRequest(int db, Bytes resp_request, uint8_t targets);  // adds a command whose request is already RESP
  size_t Count() const { return items_.size(); }                 // number of commands of all running executions
  size_t HeldBytes() const { return text_.size() + items_.size() * sizeof(Item); }  // memory of all commands in bytes
  JournalEntry operator[](size_t index) const;
  void Truncate(size_t count);  // drops all commands from index `count` on

 private:
  struct Item {  // one command
    int db;
    uint8_t targets;  // JournalEntry::Target bits: who gets the command
    size_t begin;     // where the request begins in text_
  };

  std::string text_;         // the requests of all commands
  std::vector<Item> items_;  // one item for each command
};

// One or more commands of one Unit that must be replayed together. The group is valid only during the call of
// Journal::Append.
class PropagatedGroup {  // commands of one execution (Unit) that are replayed all or not at all
 public:
  PropagatedGroup(const PropagatedCommands& commands, size_t first)
      : PropagatedGroup(commands, first, commands.Count() - first) {}
  PropagatedGroup(const PropagatedCommands& commands, size_t first, size_t count)
      : commands_(commands), first_(first), count_(count) {}
  size_t Count() const { return count_; }  // number of commands
  JournalEntry operator[](size_t index) const { return commands_[first_ + index]; }

 private:
  const PropagatedCommands& commands_;  // the list that contains the group's commands
  size_t first_;                        // index of the first command in commands_
  size_t count_;                        // number of commands
};

class Journal {  // interface: receives propagated commands (append-only file, replication backlog)
 public:
  virtual ~Journal() = default;
  // Receives the commands of one group. A journal must make sure that several commands are replayed all or not at all.
  // Append must not attach or detach a journal.
  virtual void Append(const PropagatedGroup& group) = 0;  // receives commands to be replayed together
  virtual size_t BufferedBytes() const { return 0; }      // bytes that wait to be written or sent
};

// The journals that receive every propagated command, in the order in which they were attached. A journal must be
// detached before it is destroyed, or outlive this list.
class Journals {  // all attached journals, which receive every propagated command
 public:
  class Mute {  // mutes all journals during its lifetime, while a file is replayed
   public:
    explicit Mute(Journals& journals) : journals_(journals) { ++journals_.mutes_; }
    Mute(const Mute&) = delete;
    Mute& operator=(const Mute&) = delete;
    ~Mute() { --journals_.mutes_; }

   private:
    Journals& journals_;  // the journals that get nothing while this object exists
  };

  // Requires: the journal is not attached.
  void Attach(Journal& journal) { list_.push_back(&journal); }    // adds a journal as the last one
  void Detach(Journal& journal) { std::erase(list_, &journal); }  // removes a journal, if it is attached
  bool IsRecording() const {  // a journal is attached, and the journals are not muted
    return !list_.empty() && mutes_ == 0;
  }
  // Requires: IsRecording().
  void Append(const PropagatedGroup& group) {  // passes the commands to all journals
    for (Journal* journal : list_) journal->Append(group);
  }

  size_t BufferedBytes() const {  // bytes that wait to be written or sent, in all journals
    size_t bytes = 0;
    for (const Journal* journal : list_) bytes += journal->BufferedBytes();
    return bytes;
  }

 private:
  std::vector<Journal*> list_;  // the attached journals
  int mutes_ = 0;               // number of living Mute objects
};

// The commands that are propagated for the running command, if it changed data. By default, the command itself is
// propagated. If the command could have a different result later, its handler calls Replace with other commands.
class Propagation {  // commands that replicas and the AOF get for the running command
 public:
  explicit Propagation(bool recorded) : is_recording_(recorded) {}

  // Propagates a command instead of the running one: `effect.Replace("SET", key, value, "PXAT", deadline_ms)`. The
  // arguments are Bytes or integers. Further calls add commands. Does nothing unless IsRecording(). Cost: O(bytes).
  template <class... Words>
  void Replace(const Words&... words) {  // adds a command to propagate instead of the running one
    if (!is_recording_) return;
    RequestWriter writer(BeginCommand(), sizeof...(Words));
    (Put(writer, words), ...);
  }
  // Propagates a command of any length instead of the running one. `words` are strings or Bytes. Does nothing unless
  // IsRecording(); to save time, callers should build `words` only then.
  template <class Word>
  void Replace(const std::vector<Word>& words) {  // adds a command to propagate instead of the running one
    if (is_recording_) AppendRequest(BeginCommand(), words);
  }
  // Adds a command that is propagated instead of the running command, like those of Replace. If possible
  // (CommandsAfterExec), replicas get this command outside the MULTI of the Unit (the running execution), and after its
  // other commands, so a replica that does not know this command still executes the others. The first word after the
  // name must be the only key. May be called once per running command.
  template <class... Words>
  void AddAlone(const Words&... words) {  // adds a command that replicas get last, as old ones may not know it
    if (!is_recording_) return;
    alone_index_ = Count();
    Replace(words...);
  }
  // Suppresses only the running command itself: commands that Replace and AddAlone add, before or after this call, are
  // propagated. For EXEC and scripts, because each command inside them is propagated separately.
  void SuppressCommandItself() { is_replaced_ = true; }  // does not propagate the running command
  bool IsRecording() const { return is_recording_; }     // false: nothing is propagated, so Replace does nothing
  bool IsReplaced() const { return is_replaced_; }       // true: the command itself is not propagated
  // Replace and AddAlone add commands that are propagated instead of the running command. Count returns their number.
  // operator[] returns one of them as a RESP request (protocol/request_text.h).
  size_t Count() const { return text_.empty() ? 0 : later_begins_.size() + 1; }  // how many commands were added
  bool IsAlone(size_t index) const { return index == alone_index_; }  // true: perhaps sent after EXEC (AddAlone)
  Bytes operator[](size_t index) const {
    const size_t begin = index == 0 ? 0 : later_begins_[index - 1];
    const size_t end = index < later_begins_.size() ? later_begins_[index] : text_.size();
    return Bytes(text_).substr(begin, end - begin);
  }

 private:
  static void Put(RequestWriter& writer, Bytes word) { writer.Word(word); }
  static void Put(RequestWriter& writer, int64_t word) { writer.Integer(word); }
  std::string& BeginCommand() {  // returns the text to which the next propagated command must be appended
    is_replaced_ = true;
    if (!text_.empty()) later_begins_.push_back(text_.size());
    return text_;
  }

  bool is_recording_;                 // false: nothing is propagated
  bool is_replaced_ = false;          // the command itself is not propagated
  std::string text_;                  // the texts of all commands
  std::vector<size_t> later_begins_;  // positions in text_ where the second and later commands begin
  size_t alone_index_ = SIZE_MAX;     // index of the command that AddAlone has added; SIZE_MAX: none
};

// Returns the indexes, in order, of the commands that replicas get after EXEC. These are the commands with the bit
// kAlone for whose key nothing happens in the rest of the group except XADD without trimming. The others stay in the
// transaction, because RENAME or COPY, for example, must move or copy what they have stored. Cost: O(words of all
// commands) if a command has the bit.
std::vector<size_t> CommandsAfterExec(const PropagatedGroup& group);  // which commands replicas get after EXEC

// Passes one propagated command to take.Piece. If the command's database is not `selected_db`, first passes a SELECT to
// take.Select, and updates `selected_db`.
template <class Take>
void PutAfterSelect(const JournalEntry& entry, int& selected_db, Take& take) {  // SELECT if needed, then the command
  if (entry.db != selected_db) {
    selected_db = entry.db;
    std::string select;
    RequestWriter(select, 2).Word("SELECT").Integer(entry.db);
    take.Select(std::move(select));
  }
  take.Piece(entry.request);
}

// Frames the propagated commands of one Unit for an append-only file or a replication stream: adds SELECT where the
// database changes, and MULTI and EXEC around several commands. As in Redis 7, SELECT comes inside MULTI. For replicas,
// some commands follow after EXEC (CommandsAfterExec).
//
// Calls `take.Piece(Bytes)` with MULTI, with each command for `target`, and with EXEC. Calls `take.Select(std::string)`
// with each SELECT. `selected_db` is the database that the last SELECT selected (-1: none), and is updated.
template <class Take>
void WrapInSelectAndMulti(const PropagatedGroup& group, JournalEntry::Target target,  // adds SELECT, MULTI, EXEC
                          int& selected_db, Take&& take) {
  std::vector<size_t> last;
  if (target == JournalEntry::kReplicas) last = CommandsAfterExec(group);
  size_t all = 0;
  for (size_t i = 0; i < group.Count(); ++i) all += (group[i].targets & target) != 0 ? 1 : 0;
  const bool is_transaction = all - last.size() > 1;
  if (is_transaction) take.Piece("*1\r\n$5\r\nMULTI\r\n");
  for (size_t i = 0, next = 0; i < group.Count(); ++i) {
    if (next < last.size() && last[next] == i) {
      ++next;
    } else if ((group[i].targets & target) != 0) {
      PutAfterSelect(group[i], selected_db, take);
    }
  }
  if (is_transaction) take.Piece("*1\r\n$4\r\nEXEC\r\n");
  for (const size_t i : last) PutAfterSelect(group[i], selected_db, take);
}

}  // namespace respite
