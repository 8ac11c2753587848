#include "server/clients/tracking.h"

#include <algorithm>
#include <utility>

#include "base/memory.h"
#include "server/catalogue/key_finder.h"
#include "server/clients/clients.h"
#include "server/clients/current_execution.h"
#include "server/config/settings.h"

namespace respite {

namespace {

constexpr uint64_t kNobody = 0;  // no client has this id
// The keys that a script or transaction has changed wait until the end of the Turn. Without a limit, their names could
// need any amount of memory, and again as much in the output of each client.
constexpr size_t kMaxQueuedBytes = size_t{16} << 20;
constexpr size_t kBytesPerQueuedKey = 100;  // memory of a queued key without its name

void AppendBulk(std::string& text, Bytes bytes) {
  text.append("$").append(Bytes(IntegerText(static_cast<int64_t>(bytes.size())))).append("\r\n");
  text.append(bytes).append("\r\n");
}

std::string ArrayHead(size_t count) {
  return "*" + std::string(Bytes(IntegerText(static_cast<int64_t>(count)))) + "\r\n";
}

std::string ArrayOf(Bytes key) {
  std::string text = ArrayHead(1);
  AppendBulk(text, key);
  return text;
}

// Returns a RESP array of the keys in `changed`, without those that `client` itself has changed last. With kNobody,
// returns all keys. Returns an empty text if there are no such keys.
std::string ArrayOfOthers(const std::map<std::string, uint64_t, std::less<>>& changed, uint64_t client) {
  std::string keys;
  size_t count = 0;
  for (const auto& [key, changed_by] : changed) {
    if (changed_by == client && client != kNobody) continue;
    AppendBulk(keys, key);
    ++count;
  }
  return count == 0 ? "" : ArrayHead(count) + keys;
}

}  // namespace

void Tracking::Enable(Session& session, TrackingOptions options) {
  if (session.tracking == nullptr) {
    session.tracking = std::make_unique<TrackingOptions>();
    ++tracking_client_count_;
  }
  for (const std::string& name : options.prefixes) {
    Prefix& prefix = prefixes_[name];
    if (prefix.sessions.empty()) ++prefix_lengths_[name.size()];
    prefix.sessions.emplace(session.id, &session);
  }
  options.prefixes.merge(session.tracking->prefixes);
  *session.tracking = std::move(options);
}

void Tracking::Disable(Session& session) {
  if (session.tracking == nullptr) return;
  RemovePrefixes(session);
  session.tracking.reset();
  --tracking_client_count_;
}

void Tracking::RemovePrefixes(Session& session) {
  for (const std::string& name : session.tracking->prefixes) {
    auto prefix = prefixes_.find(name);
    prefix->second.sessions.erase(session.id);
    if (!prefix->second.sessions.empty()) continue;
    prefixes_.erase(prefix);
    auto length = prefix_lengths_.find(name.size());
    if (--length->second == 0) prefix_lengths_.erase(length);
  }
}

void Tracking::RememberReadKeys(Session& session, const Command& command, std::span<const Bytes> arguments) {
  const TrackingOptions& options = *session.tracking;
  using Mode = TrackingOptions::Mode;
  if (options.mode == Mode::kBroadcast || command.Is(kPubSub)) return;
  if (options.mode == Mode::kOptIn && !options.has_caching_choice) return;
  if (options.mode == Mode::kOptOut && options.has_caching_choice) return;
  for (const KeyRef& key : KeyPositions(command.Spec(), arguments)) {
    auto row = readers_.find(arguments[key.index]);
    if (row == readers_.end() && IsFarOverLimit()) {
      clients_to_tell_all_.insert(session.id);
      has_changes_ = true;
      return;
    }
    if (row == readers_.end()) {
      row = readers_.try_emplace(std::string(arguments[key.index])).first;
      name_bytes_ += row->first.size();
    }
    std::vector<uint64_t>& ids = row->second;
    const auto place = std::lower_bound(ids.begin(), ids.end(), session.id);
    if (place != ids.end() && *place == session.id) continue;
    ids.insert(place, session.id);
    ++item_count_;
  }
}

// Returns the limit for the names of all remembered keys together, in bytes. tracking-table-max-keys limits only the
// number of keys, but clients choose how long the names are.
size_t Tracking::MaxNameBytes() const {
  constexpr size_t kFreeBytes = size_t{64} << 20;
  constexpr size_t kBytesPerKey = 1024;
  return kFreeBytes + kBytesPerKey * parts_.env.settings.tracking_table_max_keys;
}

// Returns whether the table has twice as many keys as tracking-table-max-keys allows, or more than twice MaxNameBytes
// of key names. Then no more keys are remembered, and a client that reads one must drop all keys
// (clients_to_tell_all_). Twice the limit can be reached because one script or EXEC may read any number of keys, and
// EnforceTableLimit forgets keys only between requests.
bool Tracking::IsFarOverLimit() const {
  const size_t limit = parts_.env.settings.tracking_table_max_keys;
  return limit != 0 && (readers_.size() / 2 >= limit || name_bytes_ / 2 >= MaxNameBytes());
}

void Tracking::EnforceTableLimit() {
  constexpr size_t kKeysPerRound = 100;  // times the number of calls in a row that found too many keys
  const size_t limit = parts_.env.settings.tracking_table_max_keys;
  if (limit == 0 || (readers_.size() <= limit && name_bytes_ <= MaxNameBytes())) {
    rounds_over_limit_ = 0;
    return;
  }
  constexpr float kSparse = 0.1F;
  if (readers_.load_factor() < kSparse) readers_.rehash(0);  // otherwise random buckets are mostly empty
  for (size_t left = kKeysPerRound * ++rounds_over_limit_;
       left > 0 && (readers_.size() > limit || name_bytes_ > MaxNameBytes()); --left) {
    size_t bucket = random_.Below(readers_.bucket_count());
    while (readers_.bucket_size(bucket) == 0) bucket = (bucket + 1) % readers_.bucket_count();
    Invalidate(readers_.find(readers_.begin(bucket)->first));
  }
}

void Tracking::OnChange(Bytes key) {
  if (!prefixes_.empty()) QueueForBroadcast(key);
  const auto row = readers_.find(key);
  if (row != readers_.end()) Invalidate(row);
}

void Tracking::Invalidate(Readers::iterator row) {
  const std::string keys = ArrayOf(row->first);
  const std::vector<uint64_t> ids = std::move(row->second);
  item_count_ -= ids.size();
  name_bytes_ -= row->first.size();
  readers_.erase(row);
  ShrinkSparse(readers_);
  for (uint64_t id : ids) {
    Session* session = parts_.clients.Find(id);
    if (session == nullptr || session->tracking == nullptr) continue;
    const TrackingOptions& options = *session->tracking;
    if (options.mode == TrackingOptions::Mode::kBroadcast) continue;
    if (options.no_loop && id == RunningClientId()) continue;
    Tell(*session, keys);
  }
}

void Tracking::QueueForBroadcast(Bytes key) {
  for (const auto& [length, count] : prefix_lengths_) {
    if (length > key.size()) break;  // prefix_lengths_ is ordered
    const auto prefix = prefixes_.find(key.substr(0, length));
    if (prefix == prefixes_.end()) continue;
    has_changes_ = true;
    if (prefix->second.has_overflowed) continue;
    const bool is_new = prefix->second.changed.insert_or_assign(std::string(key), RunningClientId()).second;
    if (is_new) queued_bytes_ += key.size() + kBytesPerQueuedKey;
  }
  if (queued_bytes_ > kMaxQueuedBytes) OverflowPrefixes();
}

void Tracking::OverflowPrefixes() {
  for (auto& [name, prefix] : prefixes_) {
    if (prefix.changed.empty()) continue;
    prefix.changed.clear();
    prefix.has_overflowed = true;
  }
  queued_bytes_ = 0;
}

void Tracking::Broadcast() {
  if (!std::exchange(has_changes_, false)) return;
  for (const uint64_t id : std::exchange(clients_to_tell_all_, {})) {
    Session* session = parts_.clients.Find(id);
    if (session != nullptr && session->tracking != nullptr) TellAll(*session);
  }
  // Takes the changed keys and the client ids out of prefixes_ before telling any client, because Tell may close a
  // client that exceeds its output limit, which changes prefixes_.
  struct Part {
    std::map<std::string, uint64_t, std::less<>> changed;
    bool has_overflowed;
    std::vector<uint64_t> ids;
  };
  std::vector<Part> parts;
  for (auto& [name, prefix] : prefixes_) {
    if (prefix.changed.empty() && !prefix.has_overflowed) continue;
    parts.push_back({std::exchange(prefix.changed, {}), std::exchange(prefix.has_overflowed, false), {}});
    for (const auto& [id, session] : prefix.sessions) parts.back().ids.push_back(id);
  }
  queued_bytes_ = 0;
  for (const Part& part : parts) {
    const std::string all = ArrayOfOthers(part.changed, kNobody);
    for (uint64_t id : part.ids) {
      Session* session = parts_.clients.Find(id);
      if (session == nullptr || session->tracking == nullptr) continue;
      if (part.has_overflowed) {
        TellAll(*session);
        continue;
      }
      const std::string own = session->tracking->no_loop ? ArrayOfOthers(part.changed, id) : std::string();
      if (!session->tracking->no_loop) {
        Tell(*session, all);
      } else if (!own.empty()) {
        Tell(*session, own);
      }
    }
  }
}

void Tracking::OnFlush() {
  Readers(0, readers_.hash_function()).swap(readers_);  // also frees the memory
  name_bytes_ = 0;
  item_count_ = 0;
  if (tracking_client_count_ == 0) return;
  std::vector<uint64_t> ids;
  parts_.clients.ForEach([&](const Session& session) {
    if (session.tracking != nullptr && !session.closing) ids.push_back(session.id);
  });
  for (uint64_t id : ids) {
    Session* session = parts_.clients.Find(id);
    if (session != nullptr) TellAll(*session);
  }
}

void Tracking::TellAll(Session& session) { Tell(session, session.resp == RespVersion::kResp3 ? "_\r\n" : "$-1\r\n"); }

void Tracking::Tell(Session& session, Bytes keys) {
  TrackingOptions& options = *session.tracking;
  Session* target = &session;
  if (options.redirect != 0) {
    target = parts_.clients.Find(options.redirect);
    options.redirect_lost = target == nullptr;
  }
  std::string message;
  if (target == nullptr) {
    if (session.resp != RespVersion::kResp3) return;
    message = ">2\r\n$21\r\ntracking-redir-broken\r\n:" +
              std::string(Bytes(IntegerText(static_cast<int64_t>(options.redirect)))) + "\r\n";
    return parts_.messages.Push(session, message);
  }
  if (target->resp == RespVersion::kResp3) {
    message = ">2\r\n$10\r\ninvalidate\r\n";
  } else if (options.redirect != 0 && target->kind == SessionKind::kPubSub) {
    message = "*3\r\n$7\r\nmessage\r\n$20\r\n__redis__:invalidate\r\n";
  } else {
    return;  // RESP2 has no push messages
  }
  parts_.messages.Push(*target, message.append(keys));
}

uint64_t Tracking::RunningClientId() const {
  const Session* running = parts_.current_execution.CurrentSession();
  return running == nullptr ? kNobody : running->id;
}

}  // namespace respite
