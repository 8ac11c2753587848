// UpdateCheck: the rule lost-update. A client reads a value, another client writes it, and the first one writes what it
// has made of the old value.
//
// The last reads of each client are kept, each with what others have written to the key since. A read is forgotten when
// its client writes the key, or has sent many other requests.
#pragma once

#include <deque>
#include <set>
#include <unordered_map>

#include "server/lab/lint/lint_check.h"

namespace respite {

class UpdateCheck final : public LintCheck {
 public:
  explicit UpdateCheck(const Parts& parts) : parts_(parts) {}

  void Before(const LintRequest& request, LintRemarks& remarks) override;
  void After(const LintRequest& request, LintRemarks& remarks) override;

 private:
  // Parts of a value: fields of a hash, or all of it.
  struct Extent {
    bool is_all = false;
    std::set<std::string> fields;

    bool Meets(const Extent& other) const;
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
  void Judge(const LintRequest& request, const KeyName& key, LintRemarks& remarks);
  bool LosesNothing(const LintRequest& request, const KeyName& key, const Read& read) const;
  void NoteRead(const LintRequest& request, const KeyName& key);
  void NoteWrite(const LintRequest& request, const KeyName& key);

  const Parts parts_;
  std::unordered_map<uint64_t, std::deque<Read>> reads_;  // by client
  std::map<KeyName, std::set<uint64_t>> readers_;
};

}  // namespace respite
