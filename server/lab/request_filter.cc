#include "server/lab/request_filter.h"

#include <algorithm>
#include <cstring>

#include "server/clients/acl/user.h"

namespace respite {

namespace {

constexpr Bytes kGlobSpecial = "*?[\\";

bool Fits(const std::optional<TextPattern>& filter, Bytes text) { return !filter || filter->Matches(text); }

}  // namespace

TextPattern::TextPattern(Bytes pattern, CaseMode mode)
    : beginning_(mode == CaseMode::kIgnore ? Bytes() : pattern.substr(0, pattern.find_first_of(kGlobSpecial))),
      is_plain_(mode != CaseMode::kIgnore && beginning_.size() == pattern.size()),
      glob_(pattern, mode) {}

TextStart::TextStart(Bytes text) {
  const size_t size = std::min(text.size(), sizeof bytes_);
  if (size == 0) return;
  std::memcpy(&bytes_, text.data(), size);
  std::memset(&mask_, 0xff, size);
}

ClientView ClientView::Of(const Session& client) {
  return {.id = client.id,
          .name = client.identity.name,
          .user = client.user->name(),
          .address = client.addresses.peer,
          .library = client.identity.lib_name};
}

bool ClientFilter::Matches(const ClientView& client, int in_db) const {
  if ((id && *id != client.id) || (db && *db != in_db)) return false;
  return Fits(name, client.name) && Fits(library, client.library) && Fits(address, client.address) &&
         Fits(user, client.user);
}

bool RequestFilter::MayMatch(const Command& tried) const {
  if (category != 0 && (tried.categories & category) == 0) return false;
  if (Fits(command, tried.full_name)) return true;
  return tried.parent != nullptr && command->Matches(tried.parent->full_name);
}

RequestFilter::Facts RequestFilter::Facts::Of(const RequestFaults::Attempt& request) {
  return {.client = ClientView::Of(request.client),
          .db = request.db,
          .command = &request.command,
          .words = request.words,
          .place = request.place,
          .is_in_transaction = request.is_in_transaction};
}

void RequestFilter::Facts::FindKeys() {
  if (keys) return;
  keys = KeysForAclCheck(command->Spec(), words);
  if (keys->begin() != keys->end()) key_starts.clear();
  for (const KeyRef& found : *keys) key_starts.emplace_back(words[found.index]);
}

bool RequestFilter::Matches(Facts& facts) const {
  return FitsPlace(facts) && client.Matches(facts.client, facts.db) && FitsKey(facts);
}

bool RequestFilter::FitsPlace(const Facts& facts) const {
  if (is_in_script && *is_in_script != (facts.place == RequestFaults::Place::kInScript)) return false;
  if (!is_in_transaction) return facts.place != RequestFaults::Place::kInTransaction;
  return facts.place != RequestFaults::Place::kQueued && *is_in_transaction == facts.is_in_transaction;
}

bool RequestFilter::FitsKey(Facts& facts) const {
  if (!key) return true;
  facts.FindKeys();
  return std::any_of(facts.keys->begin(), facts.keys->end(),
                     [&](const KeyRef& found) { return key->Matches(facts.words[found.index]); });
}

bool IsServerLink(const Session& session) {
  return session.kind == SessionKind::kPrimary || session.replica != nullptr ||
         session.cluster_options.imports != nullptr;
}

}  // namespace respite
