#include "server/pump.h"

#include <algorithm>

#include "server/client_text.h"
#include "server/refusals.h"

namespace respite {

namespace {

// An entry keeps the sizes of key and value in 32 bits, whatever proto-max-bulk-len allows.
constexpr int64_t kLongestArgument = UINT32_MAX;

// Where a command on hashes or sets names a field or member, if it names any; 0: it is of another kind. Members stand
// behind the key, but those that are added to a sorted set (ZADD, ZINCRBY) behind their scores: the last one is
// fetched.
size_t MemberWord(const Command& command, size_t key, size_t words) {
  const CommandGroup group = command.Spec().group;
  if (group == CommandGroup::kHash || group == CommandGroup::kSet) return key + 1;
  if (group != CommandGroup::kSortedSet) return 0;
  return command.Is(kDenyOom) ? words - 1 : key + 1;
}

}  // namespace

Pump::Outcome Pump::Run(Session& session) {
  server_.executor().StartRun();
  Outcome outcome = Outcome::kClosing;
  const bool is_over = server_.shutdown().Done();
  if (!session.closing && !session.close_after_reply && !is_over) {
    if (session.waiter != nullptr || !RunPostponed(session)) {
      outcome = Outcome::kPostponed;
    } else if (!session.closing && !session.close_after_reply) {
      outcome = RunGroups(session);
    }
  }
  batch_.Clear();
  session.in.Park();
  if (!session.out.Empty() || session.close_after_reply) server_.clients().QueueFlush(session);
  return outcome;
}

bool Pump::RunPostponed(Session& session) {
  if (session.postponed.empty()) return true;
  std::vector<std::string> own = std::move(session.postponed);
  session.postponed.clear();
  std::vector<Bytes> words(own.begin(), own.end());
  const Command* command = server_.executor().Resolve(words);
  const auto outcome = server_.executor().Execute(session, command, words, {}, Executor::Pass::kAgain);
  if (outcome == Executor::Outcome::kPostponed) {
    session.postponed = std::move(own);
    server_.clients().AddPostponed(session);
  }
  return outcome == Executor::Outcome::kDone;
}

Pump::Outcome Pump::RunGroups(Session& session) {
  for (size_t done = 0; done < kShareOfTurn; done += batch_.requests.size()) {
    RequestParser::Status status = ParseGroup(session);
    Outcome outcome = RunGroup(session);
    if (outcome != Outcome::kIdle) return outcome;
    if (status == RequestParser::Status::kError) {
      FailProtocol(session);
      return Outcome::kClosing;
    }
    if (status == RequestParser::Status::kIncomplete) return Outcome::kIdle;
  }
  return Outcome::kMore;
}

RequestParser::Status Pump::ParseGroup(Session& session) {
  batch_.Clear();
  const RequestLimits limits{.max_bulk_bytes = std::min(server_.settings().proto_max_bulk_len, kLongestArgument),
                             .authenticated = session.authenticated || !server_.auth().Required()};
  // What a stranger may send is looked at anew after each request: it may have been AUTH. A big argument ends a group,
  // since it cannot be unread.
  size_t group = limits.authenticated ? kGroup : 1;
  RequestParser::Status status = RequestParser::Status::kRequest;
  while (status == RequestParser::Status::kRequest && batch_.requests.size() < group && batch_.blobs.empty()) {
    status = session.in.ParseInto(batch_, limits);
  }
  return status;
}

Pump::Outcome Pump::RunGroup(Session& session) {
  Prefetch(session);
  for (size_t i = 0; i < batch_.requests.size(); ++i) {
    auto words = batch_.Words(batch_.requests[i]);
    const auto outcome = server_.executor().Execute(session, commands_[i], words, batch_.blobs);
    if (outcome != Executor::Outcome::kDone) {
      if (outcome == Executor::Outcome::kPostponed) {
        session.postponed.assign(words.begin(), words.end());
        server_.clients().AddPostponed(session);
      }
      if (i + 1 < batch_.requests.size()) session.in.Unread(batch_, i + 1);
      return Outcome::kPostponed;
    }
    if (session.out.HeldBytes() > ClientLimits::kFreeOutputBytes) {
      server_.limits().CheckOutput(session, server_.executor().NowMs(), ClientLimits::Moment::kReply);
    }
    if (session.closing || session.close_after_reply) return Outcome::kClosing;
  }
  return Outcome::kIdle;
}

void Pump::Prefetch(const Session& session) {
  commands_.clear();
  hashes_.clear();
  lookups_.clear();
  const Database& data = server_.keyspace()[session.db];
  Bytes last_name;  // a pipeline mostly repeats one command: spare it the look-up
  const Command* command = nullptr;
  for (const RequestBatch::Request& request : batch_.requests) {
    auto words = batch_.Words(request);
    bool repeated = command != nullptr && !command->IsContainer() && command->parent == nullptr;
    if (!repeated || words[0] != last_name) {
      command = server_.executor().Resolve(words);
      last_name = words[0];
    }
    commands_.push_back(command);
    size_t key = command == nullptr ? 0 : command->prefetch_key_index;
    if (key == 0 || key >= words.size() || batch_.requests.size() == 1) continue;
    hashes_.push_back(data.Hash(words[key]));
    data.PrefetchBucket(hashes_.back());
    const size_t member = MemberWord(*command, key, words.size());
    if (member > key && member < words.size()) lookups_.push_back({words[key], words[member], hashes_.back()});
  }
  for (uint64_t hash : hashes_) data.PrefetchEntry(hash);
  if (!lookups_.empty()) PrefetchMembers(data);
}

void Pump::PrefetchMembers(const Database& data) {
  hints_.clear();
  for (const MemberLookup& lookup : lookups_) {
    const Entry* entry = data.Find(lookup.key, lookup.key_hash);
    if (entry != nullptr) hints_.emplace_back(*entry, lookup.member);
  }
  for (const MemberHint& hint : hints_) hint.FetchMember();
}

void Pump::FailProtocol(Session& session) {
  std::string text = refusals::Protocol(session.in.Error()).text;
  server_.stats().CountError(text);
  if (session.reply_mode == ReplyMode::kOn) Reply(session.out, session.resp).Error(text);
  if (server_.log().Shows(LogLevel::kVerbose)) server_.log().Verbose(ProtocolErrorText(server_, session));
  session.close_after_reply = true;
}

}  // namespace respite
