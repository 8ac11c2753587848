// UpdateCheck: the rule lost-update. A client reads a value, another client writes it, and the first client then writes
// a value that it derived from the old one.
//
// The check remembers the last reads of each client, and the later writes of other clients to the same keys. It forgets
// a read when the client writes the key or has sent many other requests. Writes are detected by keyspace events, so
// commands that leave the value unchanged (SET NX of an existing key, EXPIRE) do not count.
#pragma once

#include <deque>
#include <set>
#include <unordered_map>
#include <vector>

#include "server/lab/lint/lint_check.h"

namespace respite {

class UpdateCheck final : public LintCheck {
 public:
  explicit UpdateCheck(const Parts& parts) : parts_(parts) {}

  void Before(const LintRequest& request, LintRemarks& remarks) override;
  void After(const LintRequest& request, LintRemarks& remarks) override;
  void OnKeyEvent(const KeyView& key, const KeyEvent& event) override;
  void Forget(const KeyView& key) override;
  void ForgetAll(int db) override;

 private:
  // Part of a value: fields of a hash, or the whole value.
  struct Extent {
    static constexpr size_t kMostFields = 128;

    bool is_all = false;
    std::vector<uint64_t> fields = {};  // sorted hash codes of the fields; empty if is_all

    bool Meets(const Extent& other) const;
    // Returns true if the extent is too long to be remembered.
    bool IsLong() const { return fields.size() > kMostFields; }
    // Returns the intersection. Requires: Meets(other).
    Extent SharedWith(const Extent& other) const;
    void Add(const Extent& other);
  };
  struct Read {
    KeyName key;
    Extent extent;
    uint64_t number;  // number of the reading request
    bool was_absent;
    Extent overwritten = {};  // parts that other clients have written since
    LintClient writer = {};   // last of those clients
  };

  static bool ReadsToChange(const LintRequest& request);
  static bool ReplacesWhatWasRead(const LintRequest& request);
  static Extent ExtentOf(const LintRequest& request);
  void Judge(const LintRequest& request, const KeyView& key, const Extent& written, LintRemarks& remarks);
  bool LosesNothing(const LintRequest& request, const KeyView& key, const Read& read) const;
  void NoteReads(const LintRequest& request);
  void NoteRead(const LintRequest& request, const KeyView& key, const Extent& extent);
  void NoteWrite(const LintRequest& request, const KeyName& key, const Extent& written);
  static void NoteOverwritten(const LintRequest& request, const Extent& written, Read& read);
  void DropOldest(uint64_t client, std::deque<Read>& reads);
  void MakeRoom();

  const Parts parts_;
  std::unordered_map<uint64_t, std::deque<Read>> reads_;  // by client ID
  KeyMap<std::set<uint64_t>> readers_;
  KeySet changed_;  // remembered keys that the running request has changed
};

}  // namespace respite
