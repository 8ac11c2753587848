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

class UpdateCheck final : public LintCheck {  // the rule lost-update
 public:
  explicit UpdateCheck(const Parts& parts) : parts_(parts) {}

  void CheckBeforeCall(const LintRequest& request, LintRemarks& remarks) override;    // before the request runs
  void CheckAfterSuccess(const LintRequest& request, LintRemarks& remarks) override;  // after it has succeeded
  void OnKeyEvent(const KeyView& key, const KeyEvent& event) override;                // notes a changed key
  void Forget(const KeyView& key) override;  // discards the knowledge about this key
  void ForgetAll(int db) override;           // discards the knowledge about this database

 private:
  struct Extent {                              // part of a value: fields of a hash, or the whole value
    static constexpr size_t kMaxFields = 128;  // in a remembered Extent

    bool is_all = false;                // the whole value
    std::vector<uint64_t> fields = {};  // sorted hash codes of the fields; empty if is_all

    bool Overlaps(const Extent& other) const;                   // they overlap
    bool IsLong() const { return fields.size() > kMaxFields; }  // it is too long to be remembered
    Extent SharedWith(const Extent& other) const;               // the intersection. Requires: Overlaps(other)
    void Add(const Extent& other);
  };
  struct Read {
    KeyName key;
    Extent extent;            // the part that was read
    uint64_t number;          // number of the reading request
    bool was_absent;          // the key did not exist
    Extent overwritten = {};  // parts that other clients have written since
    LintClient writer = {};   // last of those clients
  };

  static bool ReadsToChange(const LintRequest& request);        // it reads a value that the client may write back
  static bool ReplacesWhatWasRead(const LintRequest& request);  // it overwrites a value whatever the value is now
  static Extent ExtentOf(const LintRequest& request);           // the part of the value that it reads or writes
  void CheckLostUpdate(const LintRequest& request, const KeyView& key, const Extent& written, LintRemarks& remarks);
  bool LosesNothing(const LintRequest& request, const KeyView& key, const Read& read) const;  // it fills a cache
  void NoteReads(const LintRequest& request);  // remembers what the client has read
  void NoteRead(const LintRequest& request, const KeyView& key, const Extent& extent);    // remembers one key
  void NoteWrite(const LintRequest& request, const KeyName& key, const Extent& written);  // tells the readers
  static void NoteOverwritten(const LintRequest& request, const Extent& written, Read& read);
  void DropOldest(uint64_t client, std::deque<Read>& reads);  // forgets the oldest read of a client
  void MakeRoom();  // forgets disconnected clients, or everything, if there are too many reads

  const Parts parts_;
  std::unordered_map<uint64_t, std::deque<Read>> reads_;  // by client ID, oldest first
  KeyMap<std::set<uint64_t>> readers_;                    // IDs of the clients that have read the key
  KeySet changed_;                                        // remembered keys that the running request has changed
};

}  // namespace respite
