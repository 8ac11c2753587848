// UpdateCheck: the rule lost-update of TEST LINT. A client reads a value, another client writes the key, and then the
// first client writes a value that it has derived from the old one. The update of the other client is lost.
//
// The check remembers the last reads of each client, and later writes to the same keys by other clients. A read no
// longer counts after the client has written the key, or has sent 20 other requests. Writes are detected by keyspace
// events that mean a new value. So EXPIRE does not count as a write, and SET NX of an existing key, which has no event,
// does not either.
#pragma once

#include <deque>
#include <set>
#include <unordered_map>
#include <vector>

#include "server/lab/lint/lint_check.h"

namespace respite {

class UpdateCheck final : public LintCheck {  // the rule lost-update of TEST LINT
 public:
  explicit UpdateCheck(const Parts& parts) : parts_(parts) {}

  void CheckBeforeCall(const LintRequest& request, LintRemarks& remarks) override;    // before the request runs
  void CheckAfterSuccess(const LintRequest& request, LintRemarks& remarks) override;  // after the request has succeeded
  void OnKeyEvent(const KeyView& key, const KeyEvent& event) override;  // notes a key that the request changed
  void Forget(const KeyView& key) override;                             // forgets the reads of this key
  void ForgetAll(int db) override;                                      // forgets the reads of this database

 private:
  struct Extent {  // the part of a value that a request uses: fields of a hash, or all
    static constexpr size_t kMaxRememberedFields = 128;  // a read of more fields is not remembered

    bool is_all = false;                // whether this is the whole value
    std::vector<uint64_t> fields = {};  // sorted hash codes of the fields; empty if is_all

    bool Overlaps(const Extent& other) const;  // true: a common field, or one is the whole value
    bool HasTooManyFields() const {            // true: too many fields to be remembered
      return fields.size() > kMaxRememberedFields;
    }
    Extent SharedWith(const Extent& other) const;  // the common part. Requires: Overlaps(other)
    void Add(const Extent& other);
  };
  struct Read {
    KeyName key;
    Extent extent;            // the part of the value that was read
    uint64_t number;          // number of the reading request among the client's requests
    bool was_absent;          // the key did not exist when the client read it
    Extent overwritten = {};  // the parts that other clients wrote after this read
    LintClient writer = {};   // the last other client that wrote the key after this read
  };

  static bool IsDirectRead(const LintRequest& request);             // true: a read outside EXEC and scripts
  static bool ReplacesUnconditionally(const LintRequest& request);  // true: overwrites without a condition such as NX
  static Extent ExtentOf(const LintRequest& request);  // the part of the value that the request reads or writes
  void CheckLostUpdate(const LintRequest& request, const KeyView& key,  // adds a remark if the write loses an update
                       const Extent& written, LintRemarks& remarks);
  // Returns true if `read` found no key, and the request writes the key with a deadline, or with the value that the key
  // already has.
  bool ProbablyFillsCache(const LintRequest& request, const KeyView& key,  // true: the client probably fills a cache
                          const Read& read) const;
  void NoteReads(const LintRequest& request);  // remembers what the client has read
  void NoteRead(const LintRequest& request, const KeyView& key, const Extent& extent);  // remembers a read of one key
  // Notes that a client has written a key: marks the remembered reads of this key by other clients, and forgets those
  // reads of the writer itself that the write has overwritten.
  void NoteWrite(const LintRequest& request, const KeyName& key, const Extent& written);  // notes a write of one key
  static void NoteOverwritten(const LintRequest& request,  // adds to `read` what this write has overwritten of it
                              const Extent& written, Read& read);
  void DropOldest(uint64_t client, std::deque<Read>& reads);  // forgets the client's oldest read
  void MakeRoom();  // forgets disconnected clients, or everything, if there are too many reads

  const Parts parts_;                                     // other parts of the server that this class uses
  std::unordered_map<uint64_t, std::deque<Read>> reads_;  // remembered reads by client ID, oldest first
  KeyMap<std::set<uint64_t>> readers_;                    // by key: IDs of the clients that have a remembered read
  KeySet changed_keys_;  // keys with remembered reads that the running request has changed
};

}  // namespace respite
