#include "server/lab/lint/update_check.h"

#include <algorithm>
#include <array>

#include "base/word_text.h"
#include "server/clients/session.h"

namespace respite {

namespace {

using Place = RequestFaults::Place;

constexpr size_t kMostClients = 10'000;
constexpr size_t kMostKeys = 100'000;
constexpr size_t kMostReads = 16;      // of one client
constexpr uint64_t kMostBetween = 20;  // requests between a read and the write that it is for
constexpr std::array<Bytes, 4> kWholeReads = {"get", "mget", "hgetall", "getrange"};
constexpr std::array<Bytes, 2> kFieldReads = {"hget", "hmget"};
constexpr std::array<Bytes, 6> kWholeWrites = {"set", "setex", "psetex", "mset", "getset", "setrange"};
constexpr std::array<Bytes, 2> kFieldWrites = {"hset", "hmset"};

template <size_t kCount>
bool IsOneOf(const LintRequest& request, const std::array<Bytes, kCount>& names) {
  return std::ranges::any_of(names, [&](Bytes name) { return request.Is(name); });
}

}  // namespace

bool UpdateCheck::Extent::Meets(const Extent& other) const {
  if (is_all) return other.is_all || !other.fields.empty();
  if (other.is_all) return !fields.empty();
  return std::ranges::any_of(fields, [&](const std::string& field) { return other.fields.contains(field); });
}

void UpdateCheck::Extent::Add(const Extent& other) {
  constexpr size_t kMost = 64;
  fields.insert(other.fields.begin(), other.fields.end());
  is_all = is_all || other.is_all || fields.size() > kMost;
}

bool UpdateCheck::ReadsToChange(const LintRequest& request) {
  return request.place == Place::kSent && (IsOneOf(request, kWholeReads) || IsOneOf(request, kFieldReads));
}

// SET NX and SET IFEQ write only what nobody else has written.
bool UpdateCheck::ReplacesWhatWasRead(const LintRequest& request) {
  if (request.place == Place::kInScript || request.place == Place::kQueued) return false;
  if (request.Is("set") && (request.HasOption(3, "NX") || request.HasOption(3, "IFEQ"))) return false;
  return IsOneOf(request, kWholeWrites) || IsOneOf(request, kFieldWrites);
}

UpdateCheck::Extent UpdateCheck::ExtentOf(const LintRequest& request) {
  Extent extent;
  const auto add = [&](size_t from, size_t step) {
    for (size_t i = from; i < request.words.size(); i += step) extent.fields.emplace(request.words[i]);
  };
  if (request.Is("hget") || request.Is("hmget") || request.Is("hdel")) {
    add(2, 1);
  } else if (request.Is("hset") || request.Is("hmset")) {
    add(2, 2);
  } else if ((request.Is("hincrby") || request.Is("hincrbyfloat") || request.Is("hsetnx")) &&
             request.words.size() > 2) {
    extent.fields.emplace(request.words[2]);
  } else {
    extent.is_all = true;
  }
  return extent;
}

void UpdateCheck::Before(const LintRequest& request, LintRemarks& remarks) {
  if (!ReplacesWhatWasRead(request) || !reads_.contains(request.client.id)) return;
  for (const KeyRef& key : request.keys) Judge(request, request.Key(key), remarks);
}

void UpdateCheck::Judge(const LintRequest& request, const KeyName& key, LintRemarks& remarks) {
  const Extent written = ExtentOf(request);
  for (const Read& read : reads_[request.client.id]) {
    const bool is_old = request.number - read.number > kMostBetween;
    if (is_old || read.key != key || read.writer == nullptr) continue;
    if (!written.Meets(read.extent) || !written.Meets(read.overwritten) || LosesNothing(request, key, read)) continue;
    remarks.push_back(
        {.rule = LintRule::kLostUpdate,
         .why = Shown(read.writer) + " has written " + WordText(key.key) + " since it was read; what it wrote is lost",
         .key = key.key});
    return;
  }
}

// Two clients that fill a cache. That both write the same does not show that nothing is lost: two of them may have
// taken the last piece but one.
bool UpdateCheck::LosesNothing(const LintRequest& request, const KeyName& key, const Read& read) const {
  const bool has_deadline = request.Is("setex") || request.Is("psetex") || request.HasOption(3, "EX") ||
                            request.HasOption(3, "PX") || request.HasOption(3, "EXAT") || request.HasOption(3, "PXAT");
  if (!read.was_absent) return false;
  if (has_deadline) return true;
  const Entry* const entry = Present(parts_, key);
  if (entry == nullptr || entry->Type() != ValueType::kString) return false;
  const size_t value_at = request.Is("setex") || request.Is("psetex") ? 3 : 2;
  return request.words.size() > value_at && StringText(*entry).View() == request.words[value_at];
}

void UpdateCheck::After(const LintRequest& request, LintRemarks& /*remarks*/) {
  if (request.place == Place::kQueued) return;
  if (ReadsToChange(request)) {
    for (const KeyRef& key : request.keys) NoteRead(request, request.Key(key));
  } else if (request.command.Is(kWrite) && !readers_.empty()) {
    for (const KeyRef& key : request.keys) NoteWrite(request, request.Key(key));
  }
}

void UpdateCheck::NoteRead(const LintRequest& request, const KeyName& key) {
  if (reads_.size() >= kMostClients || readers_.size() >= kMostKeys) {
    reads_.clear();
    readers_.clear();
  }
  std::deque<Read>& reads = reads_[request.client.id];
  const Extent extent = ExtentOf(request);
  std::erase_if(reads, [&](const Read& read) { return read.key == key && read.extent.Meets(extent); });
  if (reads.size() >= kMostReads) reads.pop_front();
  reads.push_back(
      {.key = key, .extent = extent, .number = request.number, .was_absent = Present(parts_, key) == nullptr});
  readers_[key].insert(request.client.id);
}

void UpdateCheck::NoteWrite(const LintRequest& request, const KeyName& key) {
  const auto found = readers_.find(key);
  if (found == readers_.end()) return;
  const Extent written = ExtentOf(request);
  std::erase_if(found->second, [&](uint64_t id) {
    const auto mine = reads_.find(id);
    if (mine == reads_.end()) return true;
    bool is_needed = false;
    std::erase_if(mine->second, [&](const Read& read) {
      return read.key == key && id == request.client.id && written.Meets(read.extent);
    });
    for (Read& read : mine->second) {
      if (read.key != key) continue;
      is_needed = true;
      if (id == request.client.id) continue;
      read.overwritten.Add(written);
      read.writer = request.owner;
    }
    if (mine->second.empty()) reads_.erase(mine);
    return !is_needed;
  });
  if (found->second.empty()) readers_.erase(found);
}

}  // namespace respite
