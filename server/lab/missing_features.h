// MissingFeatures: TEST MISSING. Records which commands, subcommands, options and directives clients have tried to use
// although this server lacks them.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "server/execution/call_observer.h"
#include "server/lab/request_owner.h"
#include "server/runtime/env.h"

namespace respite {

struct CurrentExecution;

struct MissingFeature {  // a missing feature that clients with one name, library and user tried to use
  enum class Kind : uint8_t { kCommand, kSubcommand, kOption, kDirective };

  Kind kind;
  std::string name;                                  // "FT.SEARCH", "CLIENT NO-SUCH", "SET NOSUCH", "no-such-directive"
  std::string request;                               // the first request that used the feature
  std::shared_ptr<const RequestOwner> first_client;  // the first of these clients that used it
  uint64_t count = 0;    // how often clients with this name, library and user used the feature
  int64_t first_ms = 0;  // when the feature was used first (Unix time)
  int64_t last_ms = 0;   // when the feature was used last (Unix time)
};

class MissingFeatures final : public CallObserver {  // TEST MISSING: records what clients used and this server lacks
 public:
  static constexpr size_t kMaxFeatures = 1000;  // maximum number of records; further features are not recorded

  struct Parts {  // other parts of the server that this class uses
    const Env& env;
    const CurrentExecution& current_execution;  // the command that runs now
    CallObservers& observers;                   // attached observers, told of commands
  };
  explicit MissingFeatures(const Parts& parts) : parts_(parts) {}
  ~MissingFeatures() override { parts_.observers.Detach(*this); }
  MissingFeatures(const MissingFeatures&) = delete;
  MissingFeatures& operator=(const MissingFeatures&) = delete;

  void Start() { parts_.observers.Attach(*this); }  // begins to record missing features
  void Clear();                                     // removes the records; recording continues
  void TakeOverFrom(MissingFeatures& before);       // takes over the records of a server that this one replaces
  // Returns all records, in the order of the first use. A feature has one record for all clients with the same name,
  // library and user.
  const std::vector<const MissingFeature*>& All() const { return features_in_order_; }

  void OnCall(const FinishedCall& call) override;    // may record an option or a directive
  void OnRefusal(const RefusedCall& call) override;  // may record a command or a subcommand

 private:
  struct Request {                 // the request that used a feature
    const Session& client;         // the client that sent the request
    std::span<const Bytes> words;  // arguments, including the command name
    size_t hidden_from;            // index of the first argument that may be a secret
  };

  const Session& ClientOf(const Session& session) const;  // the client; for a script, the client that called it
  void NoteOption(const FinishedCall& call);  // records the unknown option of a call that failed with a syntax error
  void NoteDirectives(const FinishedCall& call);  // records the unknown directives of CONFIG GET and CONFIG SET
  void Note(MissingFeature::Kind kind, std::string name, const Request& request);

  const Parts parts_;                                     // other parts of the server that this class uses
  std::map<std::string, MissingFeature> features_;        // by feature, and the client's name, library and user
  std::vector<const MissingFeature*> features_in_order_;  // the features in the order of their first use
};

}  // namespace respite
