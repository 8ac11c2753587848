// The effect of a command: commands that give the same result on any server at any time (absolute deadlines, final
// values). Append-only files and replication streams consist of effects.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/bytes.h"
#include "protocol/request_text.h"

namespace respite {

// One command of an effect.
struct JournalEntry {
  enum Target : uint8_t { kNobody = 0, kFile = 1, kReplicas = 2, kEverybody = 3 };  // bits

  int db;
  uint8_t targets;
  Bytes request;  // a RESP array, see protocol/request_text.h
};

// The effects of the Units under way, as the text that files and replicas will get: made once, in memory that is
// reused. Units nest: each removes its own effects when it ends.
class Effects {
 public:
  void Add(int db, std::span<const Bytes> words, uint8_t targets = JournalEntry::kEverybody);
  // The same for a request that is text already (protocol/request_text.h).
  void AddRequest(int db, Bytes request, uint8_t targets);
  size_t Count() const { return items_.size(); }
  JournalEntry operator[](size_t index) const;
  // Drops all from `count` on, and frees memory that only a huge command needed.
  void Truncate(size_t count);

 private:
  struct Item {
    int db;
    uint8_t targets;
    size_t begin;
  };

  std::string text_;
  std::vector<Item> items_;
};

// Commands of one Unit that belong together, at least one. Valid only during the call that receives it.
class UnitEffects {
 public:
  UnitEffects(const Effects& effects, size_t first) : UnitEffects(effects, first, effects.Count() - first) {}
  UnitEffects(const Effects& effects, size_t first, size_t count) : effects_(effects), first_(first), count_(count) {}
  size_t Count() const { return count_; }
  JournalEntry operator[](size_t index) const { return effects_[first_ + index]; }

 private:
  const Effects& effects_;
  size_t first_;
  size_t count_;
};

// Receives the effects of closed Units, in order.
class Journal {
 public:
  virtual ~Journal() = default;
  // Several commands must be repeated all or not at all. This must not attach or detach a journal.
  virtual void Append(const UnitEffects& effects) = 0;
  // What it keeps until it can hand it on.
  virtual size_t BufferedBytes() const { return 0; }
};

// The journals that hear of every effect, in the order in which they were attached. Each must outlive the list or be
// detached first.
class Journals {
 public:
  // Keeps all journals silent during its lifetime: a file is loaded, and its commands are repeated.
  class Silence {
   public:
    explicit Silence(Journals& journals) : journals_(journals) { ++journals_.silences_; }
    Silence(const Silence&) = delete;
    Silence& operator=(const Silence&) = delete;
    ~Silence() { --journals_.silences_; }

   private:
    Journals& journals_;
  };

  // Requires: it is not attached.
  void Attach(Journal& journal) { list_.push_back(&journal); }
  // Does nothing if it is not attached.
  void Detach(Journal& journal) { std::erase(list_, &journal); }
  // Whether a journal is attached and not silenced. Cost: two compares.
  bool Listen() const { return !list_.empty() && silences_ == 0; }
  // Requires: Listen().
  void Append(const UnitEffects& effects) {
    for (Journal* journal : list_) journal->Append(effects);
  }

  size_t BufferedBytes() const {
    size_t bytes = 0;
    for (const Journal* journal : list_) bytes += journal->BufferedBytes();
    return bytes;
  }

 private:
  std::vector<Journal*> list_;
  int silences_ = 0;
};

// The effect of the running command. By default a command that changed something is repeated word by word; a handler
// replaces the words if they would mean something else later.
class Effect {
 public:
  explicit Effect(bool recorded) : recorded_(recorded) {}

  // `effect.Replace("SET", key, value, "PXAT", deadline_ms)`: words are Bytes or integers. Further calls add commands.
  // Costs nothing unless Recorded(), else O(bytes).
  template <class... Words>
  void Replace(const Words&... words) {
    if (!recorded_) return;
    RequestWriter writer(Begin(), sizeof...(Words));
    (Put(writer, words), ...);
  }
  // The same for a command of any length, as texts or Bytes. Make it only if Recorded().
  template <class Word>
  void Replace(const std::vector<Word>& words) {
    if (recorded_) AppendRequest(Begin(), words);
  }
  // Nothing is repeated but what Replace adds, before or after this. For EXEC and scripts, whose commands have effects
  // of their own.
  void Replace() { replaced_ = true; }
  bool Recorded() const { return recorded_; }
  bool Replaced() const { return replaced_; }
  // The commands, as text (protocol/request_text.h).
  size_t Count() const { return text_.empty() ? 0 : later_.size() + 1; }
  Bytes operator[](size_t index) const {
    const size_t begin = index == 0 ? 0 : later_[index - 1];
    const size_t end = index < later_.size() ? later_[index] : text_.size();
    return Bytes(text_).substr(begin, end - begin);
  }

 private:
  static void Put(RequestWriter& writer, Bytes word) { writer.Word(word); }
  static void Put(RequestWriter& writer, int64_t word) { writer.Integer(word); }
  // Where the next command goes.
  std::string& Begin() {
    replaced_ = true;
    if (!text_.empty()) later_.push_back(text_.size());
    return text_;
  }

  bool recorded_;
  bool replaced_ = false;
  std::string text_;           // all commands
  std::vector<size_t> later_;  // where those after the first begin
};

}  // namespace respite
