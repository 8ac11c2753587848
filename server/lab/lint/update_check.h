// UpdateCheck: the rule lost-update. A client reads a value, another client writes it, and the first one writes what it
// has made of the old value.
//
// The last reads of each client are kept, each with what others have written to the key since. A read is forgotten when
// its client writes the key, or has sent many other requests. What has written a key is what keyspace events say, so
// commands that leave the value as it is (SET NX of a key that is there, EXPIRE) write nothing.
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
  // Parts of a value: fields of a hash, or all of it.
  struct Extent {
    static constexpr size_t kMostFields = 128;

    bool is_all = false;
    std::vector<uint64_t> fields = {};  // their hashes, sorted; none if it is all

    bool Meets(const Extent& other) const;
    // Too long to be remembered.
    bool IsLong() const { return fields.size() > kMostFields; }
    // What is in both. Requires: they meet.
    Extent SharedWith(const Extent& other) const;
    void Add(const Extent& other);
  };
  struct Read {
    KeyName key;
    Extent extent;
    uint64_t number;  // of the request
    bool was_absent;
    Extent overwritten = {};  // by others since
    LintClient writer = {};   // the last of them
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
  std::unordered_map<uint64_t, std::deque<Read>> reads_;  // by client
  KeyMap<std::set<uint64_t>> readers_;
  KeySet changed_;  // by the request that runs; of those that have been read
};

}  // namespace respite
