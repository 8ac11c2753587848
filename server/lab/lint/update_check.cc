#include "server/lab/lint/update_check.h"

#include <algorithm>
#include <array>
#include <functional>
#include <iterator>
#include <utility>

#include "server/clients/clients.h"
#include "server/clients/session.h"

namespace respite {

namespace {

using Place = RequestFaults::Place;

constexpr size_t kMaxReadKeys = 100'000;
constexpr size_t kMaxReads = 16;      // limit for one client
constexpr uint64_t kMaxBetween = 20;  // limit for the requests between a read and its write
constexpr std::array<Bytes, 7> kWholeReads = {"get", "mget", "hgetall", "getrange", "getex", "substr", "hvals"};
constexpr std::array<Bytes, 2> kFieldReads = {"hget", "hmget"};
constexpr std::array<Bytes, 6> kWholeWrites = {"set", "setex", "psetex", "mset", "getset", "setrange"};
constexpr std::array<Bytes, 2> kFieldWrites = {"hset", "hmset"};
// The keyspace events that this check ignores, because they do not mean that a client has written a value.
constexpr std::array<Bytes, 9> kOtherEvents = {"expire",  "persist", "hexpire", "hpersist", "new",
                                               "expired", "evicted", "keymiss", "hexpired"};

}  // namespace

bool UpdateCheck::Extent::Overlaps(const Extent& other) const {
  if (is_all) return other.is_all || !other.fields.empty();
  if (other.is_all) return !fields.empty();
  return std::ranges::any_of(fields, [&](uint64_t field) { return std::ranges::binary_search(other.fields, field); });
}

UpdateCheck::Extent UpdateCheck::Extent::SharedWith(const Extent& other) const {
  if (is_all) return other;
  if (other.is_all) return *this;
  Extent shared;
  std::ranges::set_intersection(fields, other.fields, std::back_inserter(shared.fields));
  return shared;
}

void UpdateCheck::Extent::Add(const Extent& other) {
  is_all = is_all || other.is_all;
  std::vector<uint64_t> both;
  if (!is_all) std::ranges::set_union(fields, other.fields, std::back_inserter(both));
  fields = std::move(both);
}

bool UpdateCheck::IsDirectRead(const LintRequest& request) {
  return request.place == Place::kSent && (request.IsOneOf(kWholeReads) || request.IsOneOf(kFieldReads));
}

// Returns true if the request overwrites the value even if another client has changed it. Returns false for SET with NX
// or IFEQ, for commands in scripts, and for queued commands.
bool UpdateCheck::ReplacesUnconditionally(const LintRequest& request) {
  if (request.place == Place::kInScript || request.place == Place::kQueued) return false;
  if (request.Is("set") && (request.HasOption(3, "NX") || request.HasOption(3, "IFEQ"))) return false;
  return request.IsOneOf(kWholeWrites) || request.IsOneOf(kFieldWrites);
}

UpdateCheck::Extent UpdateCheck::ExtentOf(const LintRequest& request) {
  Extent extent;
  const auto add = [&](size_t from, size_t to, size_t step) {
    for (size_t i = from; i < std::min(to, request.words.size()); i += step) {
      extent.fields.push_back(std::hash<Bytes>()(request.words[i]));
    }
  };
  if (request.Is("hget") || request.Is("hmget") || request.Is("hdel")) {
    add(2, SIZE_MAX, 1);
  } else if (request.Is("hset") || request.Is("hmset")) {
    add(2, SIZE_MAX, 2);
  } else if (request.Is("hincrby") || request.Is("hincrbyfloat") || request.Is("hsetnx")) {
    add(2, 3, 1);
  } else {
    extent.is_all = true;
  }
  std::ranges::sort(extent.fields);
  extent.fields.erase(std::unique(extent.fields.begin(), extent.fields.end()), extent.fields.end());
  return extent;
}

void UpdateCheck::CheckBeforeCall(const LintRequest& request, LintRemarks& remarks) {
  if (request.place != Place::kQueued) changed_keys_.clear();
  if (!ReplacesUnconditionally(request) || !reads_.contains(request.client.id)) return;
  const Extent written = ExtentOf(request);
  for (const KeyRef& key : request.keys) CheckLostUpdate(request, request.View(key), written, remarks);
}

void UpdateCheck::CheckLostUpdate(const LintRequest& request, const KeyView& key, const Extent& written,
                                  LintRemarks& remarks) {
  for (const Read& read : reads_[request.client.id]) {
    const bool is_old = request.number - read.number > kMaxBetween;
    if (is_old || read.writer == nullptr || read.key.db != key.db || read.key.key != key.key) continue;
    if (!written.Overlaps(read.overwritten) || ProbablyFillsCache(request, key, read)) continue;
    remarks.push_back({.rule = LintRule::kLostUpdate,
                       .why = NameForRemark(read.writer) + " has written " + QuotedForRemark(key.key) +
                              " since it was read; what it wrote is lost",
                       .key = std::string(key.key)});
    return;
  }
}

// Returns true if the client probably fills a cache. Its read must have found no key, and its write must have a
// deadline, or write the value that the key has now. If the read found a value, an equal value proves nothing: both
// clients may have decremented the same old value.
bool UpdateCheck::ProbablyFillsCache(const LintRequest& request, const KeyView& key, const Read& read) const {
  const bool has_deadline = request.Is("setex") || request.Is("psetex") || request.HasOption(3, "EX") ||
                            request.HasOption(3, "PX") || request.HasOption(3, "EXAT") || request.HasOption(3, "PXAT");
  if (!read.was_absent) return false;
  if (has_deadline) return true;
  const Entry* const entry = FindUnexpired(parts_, key);
  if (entry == nullptr || entry->Type() != ValueType::kString) return false;
  const size_t value_at = request.Is("setex") || request.Is("psetex") ? 3 : 2;
  return request.words.size() > value_at && StringText(*entry).View() == request.words[value_at];
}

// --- Events.

void UpdateCheck::OnKeyEvent(const KeyView& key, const KeyEvent& event) {
  if (readers_.empty() || std::ranges::find(kOtherEvents, event.Name()) != kOtherEvents.end()) return;
  if (readers_.contains(key) && !changed_keys_.contains(key)) changed_keys_.insert(KeyName(key));
}

void UpdateCheck::CheckAfterSuccess(const LintRequest& request, LintRemarks& /*remarks*/) {
  if (request.place == Place::kQueued) return;
  const KeySet changed = std::exchange(changed_keys_, {});
  if (IsDirectRead(request)) return NoteReads(request);
  if (changed.empty()) return;
  const Extent written = ExtentOf(request);
  for (const KeyName& key : changed) NoteWrite(request, key, written);
}

// Remembers which keys the client has read with this request, at most the first kMaxReads.
void UpdateCheck::NoteReads(const LintRequest& request) {
  const Extent extent = ExtentOf(request);
  if (extent.HasTooManyFields()) return;
  for (size_t i = 0; i < std::min(request.keys.Size(), kMaxReads); ++i) {
    NoteRead(request, request.View(request.keys[i]), extent);
  }
}

void UpdateCheck::NoteRead(const LintRequest& request, const KeyView& key, const Extent& extent) {
  MakeRoom();
  const uint64_t id = request.client.id;
  std::deque<Read>& reads = reads_[id];
  std::erase_if(reads, [&](const Read& read) {
    return read.key.db == key.db && read.key.key == key.key && read.extent.Overlaps(extent);
  });
  if (reads.size() >= kMaxReads) DropOldest(id, reads);
  reads.push_back({.key = KeyName(key),
                   .extent = extent,
                   .number = request.number,
                   .was_absent = FindUnexpired(parts_, key) == nullptr});
  readers_[reads.back().key].insert(id);
}

void UpdateCheck::DropOldest(uint64_t client, std::deque<Read>& reads) {
  const KeyName key = std::move(reads.front().key);
  reads.pop_front();
  if (std::ranges::any_of(reads, [&](const Read& read) { return read.key == key; })) return;
  const auto readers = readers_.find(key);
  if (readers == readers_.end()) return;
  readers->second.erase(client);
  if (readers->second.empty()) readers_.erase(readers);
}

void UpdateCheck::MakeRoom() {
  if (reads_.size() >= kMaxGoneClients + 2 * parts_.clients.Count()) {
    std::erase_if(reads_, [this](const auto& row) { return parts_.clients.Find(row.first) == nullptr; });
    for (auto& [key, ids] : readers_) std::erase_if(ids, [this](uint64_t id) { return !reads_.contains(id); });
    std::erase_if(readers_, [](const auto& row) { return row.second.empty(); });
  }
  if (reads_.size() < kMaxClients && readers_.size() < kMaxReadKeys) return;
  reads_.clear();
  readers_.clear();
}

void UpdateCheck::NoteWrite(const LintRequest& request, const KeyName& key, const Extent& written) {
  const auto found = readers_.find(key);
  if (found == readers_.end()) return;
  std::erase_if(found->second, [&](uint64_t id) {
    const auto mine = reads_.find(id);
    if (mine == reads_.end()) return true;
    const bool is_own = id == request.client.id;
    for (Read& read : mine->second) {
      if (!is_own && read.key == key) NoteOverwritten(request, written, read);
    }
    std::erase_if(mine->second, [&](const Read& read) {
      return read.key == key && (is_own ? written.Overlaps(read.extent) : read.overwritten.HasTooManyFields());
    });
    const bool is_needed = std::ranges::any_of(mine->second, [&](const Read& read) { return read.key == key; });
    if (mine->second.empty()) reads_.erase(mine);
    return !is_needed;
  });
  if (found->second.empty()) readers_.erase(found);
}

void UpdateCheck::NoteOverwritten(const LintRequest& request, const Extent& written, Read& read) {
  if (!written.Overlaps(read.extent)) return;
  read.overwritten.Add(written.SharedWith(read.extent));
  read.writer = request.owner;
}

void UpdateCheck::Forget(const KeyView& key) {
  const auto found = readers_.find(key);
  if (found == readers_.end()) return;
  for (const uint64_t id : found->second) {
    const auto mine = reads_.find(id);
    if (mine == reads_.end()) continue;
    std::erase_if(mine->second, [&](const Read& read) { return read.key == found->first; });
    if (mine->second.empty()) reads_.erase(mine);
  }
  readers_.erase(found);
}

void UpdateCheck::ForgetAll(int db) {
  std::erase_if(readers_, [db](const auto& row) { return row.first.db == db; });
  for (auto& [id, reads] : reads_) std::erase_if(reads, [db](const Read& read) { return read.key.db == db; });
  std::erase_if(reads_, [](const auto& row) { return row.second.empty(); });
}

}  // namespace respite
