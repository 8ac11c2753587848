// HabitCheck: the rules no-ttl, deprecated, newer and watch-without-exec of TEST LINT.
#pragma once

#include <unordered_map>

#include "server/catalogue/version_mark.h"
#include "server/lab/lint/lint_check.h"

namespace respite {

class HabitCheck final : public LintCheck {  // TEST LINT: no-ttl, deprecated, newer and watch-without-exec
 public:
  explicit HabitCheck(const Parts& parts) : parts_(parts) {}

  void CheckBeforeCall(const LintRequest& request, LintRemarks& remarks) override;    // before the request runs
  void CheckAfterSuccess(const LintRequest& request, LintRemarks& remarks) override;  // checks a request that succeeded
  void NoteFailedRequest(const Session& client) override;  // forgets the client's WATCH if the failed request ended it
  void ReportGoneClients(LintRemarks& remarks) override;   // remarks about clients that left while they watched keys

 private:
  struct WatchingClient {  // a client that watches keys (WATCH)
    LintClient client;     // the client, with its name and address
    std::string key;       // the first key that the client watches
    uint64_t number;       // number of the first WATCH among the client's requests
  };

  void CheckNoTtl(const LintRequest& request, LintRemarks& remarks);  // checks the rule no-ttl: keys without deadline
  void CheckVersions(const LintRequest& request, LintRemarks& remarks) const;  // checks the rules deprecated and newer
  void CheckVersionMarks(const std::string& what, const VersionMark& since,    // rules newer and deprecated for `what`
                         const VersionMark& deprecated_since, Bytes replaced_by, LintRemarks& remarks) const;
  void CheckWatchWithoutExec(const LintRequest& request, LintRemarks& remarks);  // checks the rule watch-without-exec
  void NoteWatch(const LintRequest& request);  // remembers a client's first WATCH, or forgets a WATCH that has ended

  const Parts parts_;      // other parts of the server that the checks use
  KeySet unchecked_keys_;  // keys that the running EXEC or script may have written; no-ttl checks them at its end
  std::unordered_map<uint64_t, WatchingClient> watching_clients_;  // clients that watch keys, by client ID
};

}  // namespace respite
