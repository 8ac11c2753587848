// MissingFeatures: TEST MISSING. Records commands, subcommands, options and directives that clients have used and that
// this server does not have.
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

struct MissingFeature {
  enum class Kind : uint8_t { kCommand, kSubcommand, kOption, kDirective };

  Kind kind;
  std::string name;     // "FT.SEARCH", "CLIENT NO-SUCH", "SET NOSUCH", "no-such-directive"
  std::string request;  // the first request that used it
  std::shared_ptr<const RequestOwner> client;
  uint64_t count = 0;
  int64_t first_ms = 0;  // Unix time
  int64_t last_ms = 0;
};

class MissingFeatures final : public CallObserver {
 public:
  static constexpr size_t kMost = 1000;

  struct Parts {
    const Env& env;
    const CurrentExecution& current_execution;
    CallObservers& observers;
  };
  explicit MissingFeatures(const Parts& parts) : parts_(parts) {}
  ~MissingFeatures() override { parts_.observers.Detach(*this); }
  MissingFeatures(const MissingFeatures&) = delete;
  MissingFeatures& operator=(const MissingFeatures&) = delete;

  void Start() { parts_.observers.Attach(*this); }
  void Clear();
  // Takes over the records of another server, which ends.
  void Continue(MissingFeatures& before);
  // Returns the features in the order of their first use.
  const std::vector<const MissingFeature*>& All() const { return in_order_; }
  // Returns the number of distinct features that were dropped because kMost features were recorded already.
  uint64_t Lost() const { return lost_; }

  void OnCall(const FinishedCall& call) override;
  void OnRefusal(const RefusedCall& call) override;

 private:
  struct Request {
    const Session& client;
    std::span<const Bytes> words;
    size_t hidden_from;
  };

  const Session& ClientOf(const Session& session) const;
  void NoteOption(const FinishedCall& call);
  void NoteDirectives(const FinishedCall& call);
  void Note(MissingFeature::Kind kind, std::string name, const Request& request);

  const Parts parts_;
  std::map<std::string, MissingFeature> features_;  // by kind and name
  std::vector<const MissingFeature*> in_order_;
  uint64_t lost_ = 0;
};

}  // namespace respite
