#include "server/lab/lint/lint.h"

#include <algorithm>
#include <utility>

#include "base/clock.h"
#include "server/clients/clients.h"
#include "server/clients/current_execution.h"
#include "server/clients/session.h"
#include "server/lab/lint/habit_check.h"
#include "server/lab/lint/lock_check.h"
#include "server/lab/lint/message_check.h"
#include "server/lab/lint/shape_check.h"
#include "server/lab/lint/slot_check.h"
#include "server/lab/lint/update_check.h"
#include "server/lab/request_text.h"

namespace respite {

namespace {

using Place = RequestFaults::Place;
using Rule = LintRule;

constexpr size_t kShapeBytes = 64;     // limit for a key
constexpr size_t kLongestWord = 1024;  // limit for a client name or channel

struct CheckKind {
  std::vector<Rule> rules;
  std::unique_ptr<LintCheck> (*make)(const LintCheck::Parts& parts);
};

template <class Check>
std::unique_ptr<LintCheck> Make(const LintCheck::Parts& parts) {
  return std::make_unique<Check>(parts);
}

const std::vector<CheckKind>& CheckKinds() {
  static const std::vector<CheckKind> kinds = {
      {{Rule::kCrossSlot, Rule::kUndeclaredKey, Rule::kSelectInCluster}, Make<SlotCheck>},
      {{Rule::kLockWithoutTtl, Rule::kForeignUnlock, Rule::kExpiredLockWork}, Make<LockCheck>},
      {{Rule::kLostUpdate}, Make<UpdateCheck>},
      {{Rule::kLostMessage}, Make<MessageCheck>},
      {{Rule::kSlowShape, Rule::kChatty, Rule::kBigValue, Rule::kHotKey}, Make<ShapeCheck>},
      {{Rule::kNoTtl, Rule::kDeprecated, Rule::kNewer, Rule::kWatchWithoutExec}, Make<HabitCheck>},
  };
  return kinds;
}

// Returns the keys of a request that the checks judge: all except keys longer than kMaxKeyBytes, because checks may
// store keys for a long time.
KeyList JudgedKeys(const CommandSpec& spec, std::span<const Bytes> words) {
  KeyList all = KeysForAclCheck(spec, words);
  const auto is_long = [&](const KeyRef& key) { return words[key.index].size() > LintRequest::kMaxKeyBytes; };
  if (std::ranges::none_of(all, is_long)) return all;
  KeyList judged;
  for (const KeyRef& key : all) {
    if (!is_long(key)) judged.Add(key.index, key.flags);
  }
  return judged;
}

// Returns the first 64 bytes of the key, with each number replaced by 0. So lock:17 and lock:42 have the same shape.
std::string ShapeOf(Bytes key) {
  std::string shape;
  for (const char c : key.substr(0, kShapeBytes)) {
    const char byte = IsDigit(c) ? '0' : c;
    if (byte != '0' || !shape.ends_with('0')) shape += byte;
  }
  return shape;
}

}  // namespace

Lint::Lint(const Parts& parts) : parts_(parts) {}

Lint::~Lint() { Detach(); }

// --- Modes.

void Lint::SetMode(std::span<const LintRule> rules, LintMode mode) {
  has_begun_ = true;
  for (const LintRule rule : rules) modes_[static_cast<size_t>(rule)] = mode;
  ChooseChecks();
}

void Lint::ChooseChecks() {
  const LintCheck::Parts parts{
      .env = parts_.env, .data = parts_.data, .clients = parts_.clients, .pubsub = parts_.pubsub, .limits = limits_};
  const auto& kinds = CheckKinds();
  for (size_t i = 0; i < kinds.size(); ++i) {
    if (std::ranges::all_of(kinds[i].rules, [this](Rule rule) { return ModeOf(rule) == LintMode::kOff; })) {
      checks_.erase(i);
    } else if (!checks_.contains(i)) {
      checks_.emplace(i, kinds[i].make(parts));
    }
  }
  if (checks_.empty()) {
    Detach();
    senders_.clear();
  } else {
    Attach();
  }
}

void Lint::Attach() {
  parts_.fault_sources.AttachFirst(*this);
  parts_.observers.Attach(*this);
  parts_.key_events.Attach(this);
}

void Lint::Detach() {
  parts_.fault_sources.Detach(*this);
  parts_.observers.Detach(*this);
  parts_.key_events.Detach();
}

void Lint::Stop() {
  Note(nullptr, RemarksOnGoneClients());
  modes_.fill(LintMode::kOff);
  ChooseChecks();
}

void Lint::Clear() {
  findings_.clear();
  findings_in_order_.clear();
}

void Lint::Forget() {
  Stop();
  Clear();
  limits_ = {};
  has_begun_ = false;
}

void Lint::TakeOverFrom(Lint& before) {
  const auto modes = before.modes_;
  before.Stop();
  limits_ = before.limits_;
  has_begun_ = before.has_begun_;
  findings_ = std::move(before.findings_);
  findings_in_order_ = std::move(before.findings_in_order_);
  before.Clear();
  modes_ = modes;
  ChooseChecks();
}

// --- Events.

Lint::Sender& Lint::SenderOf(const Session& client) {
  constexpr size_t kFew = 1000;
  if (!senders_.contains(client.id) && senders_.size() >= kFew + 2 * parts_.clients.Count()) {
    std::erase_if(senders_, [this](const auto& row) { return parts_.clients.Find(row.first) == nullptr; });
  }
  Sender& sender = senders_[client.id];
  if (sender.owner == nullptr || !sender.owner->IsUnchangedIn(client)) sender.owner = RequestOwner::Of(client);
  return sender;
}

LintRequest Lint::RequestOf(const Attempt& request) {
  Sender& sender = SenderOf(request.client);
  return {.client = request.client,
          .owner = sender.owner,
          .db = request.db,
          .command = request.command,
          .words = request.words,
          .keys = JudgedKeys(request.command.Spec(), request.words),
          .place = request.place,
          .number = sender.requests};
}

const RequestFault* Lint::FindFault(const Attempt& request) {
  is_test_or_server_traffic_ = IsTestOrServerTraffic(request.client, &request.command);
  if (is_test_or_server_traffic_) return nullptr;
  if (request.place == Place::kSent || request.place == Place::kQueued) ++SenderOf(request.client).requests;
  const LintRequest judged = RequestOf(request);
  LintRemarks remarks;
  for (const auto& [kind, check] : checks_) check->CheckBeforeCall(judged, remarks);
  const auto refused = Note(&judged, std::move(remarks));
  if (!refused) return nullptr;
  const LintRuleInfo& info = GetLintRuleInfo(refused->rule);
  refusal_.text = "LINT " + std::string(info.name) + ": " + refused->why + ". Instead: " + std::string(info.instead);
  return &refusal_;
}

void Lint::OnCall(const FinishedCall& call) {
  const bool is_in_script = call.session.IsScript();
  if (is_in_script && parts_.current_execution.session == nullptr) return;
  const Session& client = is_in_script ? *parts_.current_execution.session : call.session;
  if (IsTestOrServerTraffic(client, &call.command)) return;
  if (call.ending == FinishedCall::Ending::kFailed) {
    if (call.nesting == 0) NotifyChecksOfFailure(client);
    return;
  }
  const Place place = is_in_script ? Place::kInScript : call.nesting != 0 ? Place::kInTransaction : Place::kSent;
  LintRequest request = RequestOf({.client = client,
                                   .db = call.session.db,
                                   .command = call.command,
                                   .words = call.words,
                                   .place = place,
                                   .is_in_transaction = client.InTransaction()});
  request.reply_bytes = call.reply_bytes;
  LintRemarks remarks;
  for (const auto& [kind, check] : checks_) check->CheckAfterSuccess(request, remarks);
  Note(&request, std::move(remarks));
}

void Lint::OnRefusal(const RefusedCall& call) {
  if (call.nesting == 0 && !IsTestOrServerTraffic(call.session, call.command)) NotifyChecksOfFailure(call.session);
}

void Lint::NotifyChecksOfFailure(const Session& client) {
  for (const auto& [kind, check] : checks_) check->NoteFailedRequest(client);
}

void Lint::OnKeyEvent(int db, Bytes key, const KeyEvent& event) {
  const KeyView view(db, key);
  const bool is_by_itself = event.Kind() == kNotifyExpired || event.Kind() == kNotifyEvicted;
  for (const auto& [kind, check] : checks_) {
    if (is_test_or_server_traffic_ && !is_by_itself) {
      check->Forget(view);
    } else {
      check->OnKeyEvent(view, event);
    }
  }
}

void Lint::OnFlush(std::span<const int> dbs) {
  for (const auto& [kind, check] : checks_) {
    for (const int db : dbs) check->ForgetAll(db);
  }
}

void Lint::OnSwap(int one, int other) {
  for (const int db : {one, other}) OnFlush(std::span(&db, 1));
}

// --- Findings.

std::optional<LintRemark> Lint::Note(const LintRequest* request, LintRemarks remarks) {
  std::optional<LintRemark> refused;
  for (LintRemark& remark : remarks) {
    const LintMode mode = ModeOf(remark.rule);
    if (mode == LintMode::kOff) continue;
    Add(request, remark);
    const bool is_about_request = remark.client == nullptr;
    if (mode == LintMode::kStrict && is_about_request && !refused) refused = std::move(remark);
  }
  return refused;
}

void Lint::Add(const LintRequest* request, const LintRemark& remark) {
  const bool is_of_request = request != nullptr && remark.client == nullptr;
  const LintClient& client = is_of_request ? request->owner : remark.client;
  const std::string command = is_of_request ? request->command.full_name : "";
  std::string same(GetLintRuleInfo(remark.rule).name);
  for (const std::string& part : {command, client->name, client->library, client->user, ShapeOf(remark.key)}) {
    same += '\n';
    same += Bytes(part).substr(0, kLongestWord);
  }
  const int64_t now_ms = parts_.env.clock.WallMs();
  const auto found = findings_.find(same);
  if (found != findings_.end()) {
    ++found->second.count;
    found->second.last_ms = now_ms;
    return;
  }
  if (findings_.size() >= kMaxFindings) return;
  // Shows only the arguments that are never secrets (public_words of the command's spec). The command may not have
  // run yet, so Call::Redact may not have hidden its secrets.
  std::string line = is_of_request ? RequestText(request->words, request->command.Spec().public_words) : "";
  LintFinding finding{.rule = remark.rule,
                      .client = client,
                      .command = command,
                      .request = std::move(line),
                      .key = remark.key.substr(0, kLongestWord),
                      .why = remark.why,
                      .count = 1,
                      .first_ms = now_ms,
                      .last_ms = now_ms};
  findings_in_order_.push_back(&findings_.emplace(std::move(same), std::move(finding)).first->second);
}

std::vector<const LintFinding*> Lint::Report() {
  Note(nullptr, RemarksOnGoneClients());
  return findings_in_order_;
}

LintRemarks Lint::RemarksOnGoneClients() {
  LintRemarks remarks;
  for (const auto& [kind, check] : checks_) check->ReportGoneClients(remarks);
  return remarks;
}

}  // namespace respite
