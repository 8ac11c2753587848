#include "server/lab/request_journal.h"

#include <algorithm>
#include <utility>

#include "base/clock.h"
#include "base/str_cat.h"
#include "server/catalogue/command_table.h"
#include "server/clients/clients.h"
#include "server/clients/current_execution.h"
#include "server/clients/session.h"
#include "server/lab/request_text.h"
#include "server/runtime/stats.h"

namespace respite {

namespace {

using Outcome = RequestEntry::Outcome;
using Place = RequestFaults::Place;

Bytes FirstWord(Bytes text) { return text.substr(0, text.find(' ')); }

bool Tells(Bytes error, Bytes word) {
  constexpr size_t kMinSecret = 4;  // shorter secrets are hidden only if they are quoted
  if (word.size() >= kMinSecret) return error.find(word) != Bytes::npos;
  return !word.empty() && error.find("'" + std::string(word) + "'") != Bytes::npos;
}

// Returns the error text. If the text contains an argument of the request that may be secret (words[shown] and later
// ones), returns only the first word of the error and "(redacted)".
std::string WithoutSecrets(Bytes error, std::span<const Bytes> words, size_t shown) {
  for (size_t i = shown; i < words.size(); ++i) {
    if (Tells(error, words[i])) return std::string(FirstWord(error)) + " (redacted)";
  }
  return std::string(error);
}

}  // namespace

// --- Entries.

std::vector<Bytes> RequestEntry::Words() const {
  std::vector<Bytes> result;
  result.reserve(ends.size());
  size_t begin = 0;
  for (const uint32_t end : ends) {
    result.push_back(Bytes(words).substr(begin, end - begin));
    begin = end;
  }
  return result;
}

std::string RequestEntry::OutcomeText() const {
  switch (outcome) {
    case Outcome::kOk:
      return "ok";
    case Outcome::kError:
      return detail.empty() ? "error" : "error " + detail;
    case Outcome::kBlocked:
      return "blocked";
    case Outcome::kFault:
      break;
  }
  return "fault " + detail;
}

std::string RequestEntry::Line() const {
  const Bytes name[] = {client->name};
  std::string line = StrCat("#", seq, " ");
  line += client->name.empty() ? StrCat("id=", client->id) : RequestText(name);
  line += ": " + RequestText(Words());
  if (place == Place::kInScript) line += " (in a script)";
  if (place == Place::kInTransaction) line += " (in a transaction)";
  return line + " -> " + OutcomeText();
}

bool JournalFilter::Matches(const RequestEntry& entry) const {
  if (since && entry.seq < *since) return false;
  if (entry.command == nullptr ? !request.MayMatchUnknown() : !request.MayMatch(*entry.command)) return false;
  if (outcome) {
    const std::string text = entry.OutcomeText();
    if (!outcome->Matches(text) && !outcome->Matches(FirstWord(text))) return false;
  }
  std::vector<Bytes> words;
  if (request.key) words = entry.Words();
  // Gives a request that EXEC has run the place kSent, as if the client had sent it alone, so that a filter without the
  // condition TRANSACTION also matches it.
  const bool is_in_script = entry.place == Place::kInScript;
  RequestFilter::Facts facts{.client = entry.client->View(),
                             .db = entry.db,
                             .command = entry.command,
                             .words = words,
                             .place = is_in_script ? Place::kInScript : Place::kSent,
                             .is_in_transaction = entry.is_in_transaction};
  return request.Matches(facts);
}

// --- The ring.

void RequestJournal::Start(size_t last) {
  Forget();
  capacity_ = last;
  Attach();
}

void RequestJournal::Attach() {
  is_on_ = true;
  parts_.observers.Attach(*this);
  parts_.key_events.Attach(this);
}

void RequestJournal::Stop() {
  if (is_on_) parts_.key_events.Detach();
  is_on_ = false;
  parts_.observers.Detach(*this);
}

void RequestJournal::Clear() {
  ++epoch_;
  entries_.clear();
  first_ = next_;
  dropped_count_ = bytes_ = 0;
  keys_.DropEnded();
  for (auto& [id, sender] : senders_) sender.round_trips = 0;
}

void RequestJournal::Forget() {
  Stop();
  Clear();
  keys_.Clear();
  senders_.clear();
  last_sender_ = nullptr;
  last_sender_id_ = 0;
  capacity_ = 0;
  first_ = next_ = 1;
}

void RequestJournal::TakeOverFrom(RequestJournal& before) {
  Forget();
  capacity_ = before.capacity_;
  entries_ = std::move(before.entries_);
  bytes_ = before.bytes_;
  first_ = before.first_;
  next_ = before.next_;
  dropped_count_ = before.dropped_count_;
  epoch_ = before.epoch_ + 1;
  for (RequestEntry& entry : entries_) {
    if (entry.command != nullptr) entry.command = parts_.env.commands.FindByOriginalName(entry.command->full_name);
  }
  keys_ = std::move(before.keys_);
  keys_.OnServerKilled({.next_seq = next_, .wall_us = Moment().wall_us});
  if (before.is_on_) Attach();
  before.Forget();
}

uint64_t RequestJournal::Count(const JournalFilter& filter) const {
  uint64_t count = 0;
  ForEach(filter, [&count](const RequestEntry&) { ++count; });
  return count;
}

RequestEntry RequestJournal::TakeOldest() {
  bytes_ -= entries_.front().HeldBytes();
  RequestEntry oldest = std::move(entries_.front());
  entries_.pop_front();
  ++first_;
  ++dropped_count_;
  keys_.DropBefore(first_);
  return oldest;
}

void RequestJournal::MakeRoom() {
  while (bytes_ > kMaxJournalBytes && entries_.size() > 1) TakeOldest();
}

RequestEntry& RequestJournal::Append(const Request& request, const Session& client, Sender& sender) {
  RequestEntry& entry = entries_.emplace_back(entries_.size() == capacity_ ? TakeOldest() : RequestEntry());
  entry.seq = next_++;
  entry.client = sender.client;
  entry.command = request.command;
  entry.db = request.session->db;
  entry.round_trips = std::exchange(sender.round_trips, 0);
  entry.lock = KeyHistory::LockAttempt::kNone;
  entry.waited_until = 0;
  const bool is_in_script = request.session->IsScript();
  entry.place = is_in_script ? Place::kInScript : request.nesting == 0 ? Place::kSent : Place::kInTransaction;
  entry.is_in_transaction = entry.place == Place::kInTransaction || (is_in_script && client.InTransaction());
  Keep(entry, request);
  bytes_ += entry.HeldBytes();
  return entry;
}

RequestJournal::Request RequestJournal::RequestHidingSecrets(const Session& session, const Command* command,
                                                             std::span<const Bytes> words, int nesting) const {
  return {&session, command, words, nesting, NonSecretArgumentCount(parts_.env.commands, command, words)};
}

void RequestJournal::Keep(RequestEntry& entry, const Request& request) {
  entry.words.clear();
  entry.ends.clear();
  const Session& session = *request.session;
  const auto words = request.words;
  const size_t shown = request.shown;
  const auto add = [&entry](Bytes word) {
    entry.words += word.substr(0, kMaxKeptArgumentBytes);
    if (word.size() > kMaxKeptArgumentBytes)
      StrAppend(entry.words, "... (", word.size() - kMaxKeptArgumentBytes, " more bytes)");
    entry.ends.push_back(static_cast<uint32_t>(entry.words.size()));
  };
  const auto kept = words.first(std::min(words.size(), kMaxKeptArguments));
  if (session.redacted_arguments.empty() && shown >= kept.size()) {
    for (const Bytes word : kept) add(word);
    return;
  }
  for (const Bytes word : ArgumentsWithoutSecrets(session, words)) {
    if (entry.ends.size() < kept.size()) add(entry.ends.size() < shown ? word : "(redacted)");
  }
}

// --- Senders.

const Session& RequestJournal::ClientOf(const Session& session) const {
  return session.IsScript() && parts_.current_execution.session != nullptr ? *parts_.current_execution.session
                                                                           : session;
}

RequestJournal::Sender& RequestJournal::SenderOf(const Session& client) {
  if (client.id != last_sender_id_ || last_sender_ == nullptr) {
    if (!senders_.contains(client.id)) ForgetOldSenders();
    last_sender_ = &senders_[client.id];
    last_sender_id_ = client.id;
  }
  Sender& sender = *last_sender_;
  if (sender.client == nullptr || !sender.client->IsUnchangedIn(client)) sender.client = RequestOwner::Of(client);
  return sender;
}

// Forgets disconnected clients, if the journal remembers at least kFew + 2 * (number of connected clients) clients.
// Cost: O(1) amortised.
void RequestJournal::ForgetOldSenders() {
  constexpr size_t kFew = 1000;
  if (senders_.size() < kFew + 2 * parts_.clients.Count()) return;
  std::erase_if(senders_, [this](const auto& row) { return parts_.clients.Find(row.first) == nullptr; });
}

// Counts the round trips of a client: one for the first request in each turn of the event loop. The client sent the
// other requests of the turn without waiting for a reply, because replies are sent at the end of a turn.
void RequestJournal::CountRoundTrip(Sender& sender, int nesting) {
  if (nesting != 0 || std::exchange(sender.turn, parts_.env.stats.turns + 1) == parts_.env.stats.turns + 1) return;
  ++sender.round_trips;
}

// --- Events.

JournalMoment RequestJournal::Moment() const {
  return {.next_seq = next_, .wall_us = parts_.current_execution.wall_base_us + parts_.current_execution.last_us};
}

// Passes the event to keys_, with the time at which the latest command began or ended (Moment). For "expired", reads
// the clock instead, because a key may expire long after that command.
void RequestJournal::OnKeyEvent(int db, Bytes key, const KeyEvent& event) {
  JournalMoment moment = Moment();
  if (event.Name() == "expired") moment.wall_us = parts_.env.clock.WallUs();
  keys_.OnKeyEvent(db, key, event, moment);
}

void RequestJournal::Finish(RequestEntry& entry, Sender& sender, const End& end) {
  const size_t held = entry.HeldBytes();
  entry.outcome = end.outcome;
  entry.detail = end.detail.substr(0, kMaxKeptArgumentBytes);
  if (!sender.fault.empty()) {
    entry.outcome = Outcome::kFault;
    entry.detail = std::exchange(sender.fault, {});
  }
  const int64_t now_us = Moment().wall_us;
  if (sender.waiting_entry == entry.seq) {
    sender.waiting_entry = 0;
    entry.waited_until = next_;
    entry.duration_us = std::max<int64_t>(now_us - entry.wall_us, 0);
  } else {
    entry.duration_us = end.duration_us;
    entry.wall_us = now_us - end.duration_us;
  }
  bytes_ += entry.HeldBytes() - held;
  MakeRoom();
}

void RequestJournal::OnCall(const FinishedCall& call) {
  const Session& client = ClientOf(call.session);
  if (IsTestOrServerTraffic(client, &call.command)) return keys_.ForgetUnrecordedCall();
  Sender& sender = SenderOf(client);
  const KeyHistory::LockAttempt attempt = keys_.RecordCall(call, sender.client, Moment());
  const bool has_failed = call.ending == FinishedCall::Ending::kFailed;
  Request request{&call.session, &call.command, call.words, call.nesting};
  if (has_failed) request.shown = NonSecretArgumentCount(parts_.env.commands, &call.command, call.words);
  const std::string error = WithoutSecrets(call.error, call.words, request.shown);
  const End end{
      .outcome = has_failed ? Outcome::kError : Outcome::kOk, .detail = error, .duration_us = call.duration_us};
  const bool has_waited = call.stage != Progress::Stage::kNew && call.nesting == 0 && sender.waiting_entry >= first_;
  if (has_waited) return Finish(At(sender.waiting_entry), sender, end);
  if (call.stage == Progress::Stage::kNew) CountRoundTrip(sender, call.nesting);
  RequestEntry& entry = Append(request, client, sender);
  entry.lock = attempt;
  Finish(entry, sender, end);
}

void RequestJournal::OnRefusal(const RefusedCall& call) {
  const Session& client = ClientOf(call.session);
  if (IsTestOrServerTraffic(client, call.command)) return;
  Sender& sender = SenderOf(client);
  CountRoundTrip(sender, call.nesting);
  const Request request = RequestHidingSecrets(call.session, call.command, call.words, call.nesting);
  const std::string error = WithoutSecrets(call.error, call.words, request.shown);
  Finish(Append(request, client, sender), sender, {.outcome = Outcome::kError, .detail = error});
}

void RequestJournal::OnWait(const WaitingCall& call) {
  if (IsTestOrServerTraffic(call.session, &call.command)) return;
  Sender& sender = SenderOf(call.session);
  CountRoundTrip(sender, 0);
  RequestEntry& entry = Append({&call.session, &call.command, call.words}, call.session, sender);
  entry.wall_us = Moment().wall_us;
  entry.duration_us = 0;
  entry.outcome = Outcome::kBlocked;
  entry.detail.clear();
  sender.waiting_entry = entry.seq;
  MakeRoom();
}

void RequestJournal::OnQueued(const WaitingCall& call) {
  if (!IsTestOrServerTraffic(call.session, &call.command)) CountRoundTrip(SenderOf(call.session), 0);
}

void RequestJournal::NoteFault(const RequestFaults::Attempt& request, const RequestFault& fault, Bytes rule_name) {
  if (!is_on_) return;
  using Kind = RequestFault::Kind;
  Sender& sender = SenderOf(request.client);
  const bool is_queued = request.place == Place::kQueued;
  const bool is_answered = fault.kind == Kind::kReply && request.place != Place::kInScript;
  const bool is_closed = fault.kind == Kind::kClose && (is_queued || request.place == Place::kSent);
  if (!is_answered && !is_closed) {
    // Shows the fault in the entry of the request. Leaves out a fault that changes only the reply +QUEUED, because EXEC
    // later runs the command without the fault. An error instead of +QUEUED is shown, because EXEC then does not run
    // the request.
    if (!is_queued || fault.kind == Kind::kError) sender.fault = rule_name;
    return;
  }
  // Adds an entry here, because the fault replies instead of the command or closes the connection: OnCall and OnRefusal
  // are not called for this request.
  const int nesting = request.place == Place::kInTransaction ? 1 : 0;
  CountRoundTrip(sender, nesting);
  sender.fault = rule_name;
  Finish(Append(RequestHidingSecrets(request.client, &request.command, request.words, nesting), request.client, sender),
         sender, {});
}

}  // namespace respite
