#include "server/lab/request_filter.h"

#include <algorithm>
#include <cstring>

#include "server/clients/acl/user.h"

namespace respite {

namespace {

constexpr Bytes kSpecial = "*?[\\";

bool Fits(const std::optional<TextPattern>& filter, Bytes text) { return !filter || filter->Matches(text); }

}  // namespace

TextPattern::TextPattern(Bytes pattern, CaseMode mode)
    : beginning_(mode == CaseMode::kIgnore ? Bytes() : pattern.substr(0, pattern.find_first_of(kSpecial))),
      is_plain_(mode != CaseMode::kIgnore && beginning_.size() == pattern.size()),
      glob_(pattern, mode) {}

TextStart::TextStart(Bytes text) {
  const size_t size = std::min(text.size(), sizeof octets_);
  if (size == 0) return;
  std::memcpy(&octets_, text.data(), size);
  std::memset(&mask_, 0xff, size);
}

bool ClientFilter::Matches(const Session& client, int in_db) const {
  if ((id && *id != client.id) || (db && *db != in_db)) return false;
  return Fits(name, client.identity.name) && Fits(library, client.identity.lib_name) &&
         Fits(address, client.addresses.peer) && Fits(user, client.user->name());
}

bool RequestFilter::MayMatch(const Command& tried) const {
  if (category != 0 && (tried.categories & category) == 0) return false;
  if (Fits(command, tried.full_name)) return true;
  return tried.parent != nullptr && command->Matches(tried.parent->full_name);
}

void RequestFilter::Facts::FindKeys() {
  if (keys) return;
  keys = NamedKeys(request.command.Spec(), request.words);
  if (keys->begin() != keys->end()) key_starts.clear();
  for (const KeyRef& found : *keys) key_starts.emplace_back(request.words[found.index]);
}

bool RequestFilter::Matches(Facts& facts) const {
  const RequestFaults::Request& request = facts.request;
  return FitsPlace(request) && client.Matches(request.client, request.db) && FitsKey(facts);
}

bool RequestFilter::FitsPlace(const RequestFaults::Request& request) const {
  using Place = RequestFaults::Place;
  if (is_in_script && *is_in_script != (request.place == Place::kInScript)) return false;
  if (!is_in_transaction) return request.place != Place::kInTransaction;
  return request.place != Place::kQueued && *is_in_transaction == request.is_in_transaction;
}

bool RequestFilter::FitsKey(Facts& facts) const {
  if (!key) return true;
  const RequestFaults::Request& request = facts.request;
  facts.FindKeys();
  return std::any_of(facts.keys->begin(), facts.keys->end(),
                     [&](const KeyRef& found) { return key->Matches(request.words[found.index]); });
}

}  // namespace respite
