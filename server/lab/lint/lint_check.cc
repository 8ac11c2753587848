#include "server/lab/lint/lint_check.h"

#include <algorithm>

#include "base/bytes.h"
#include "base/clock.h"
#include "base/str_cat.h"
#include "server/clients/session.h"
#include "server/dataset/dataset.h"

namespace respite {

bool LintRequest::IsOneOf(std::span<const Bytes> full_names) const {
  return std::ranges::any_of(full_names, [&](Bytes name) { return Is(name); });
}

bool LintRequest::HasOption(size_t from, Bytes option) const {
  if (from >= words.size()) return false;
  return std::ranges::any_of(words.subspan(from), [&](Bytes word) { return EqualsIgnoreCase(word, option); });
}

std::string NameForRemark(const LintClient& client) {
  return "client " + (client->name.empty() ? StrCat("id=", client->id) : QuotedForRemark(client->name));
}

std::string QuotedForRemark(Bytes word) {
  constexpr size_t kMax = 64;
  if (word.size() <= kMax) return QuotedIfNeeded(word);
  return QuotedIfNeeded(std::string(word.substr(0, kMax)) + "...");
}

bool HasWatchedKeys(const Session& client) {
  return client.transaction != nullptr && client.transaction->watches != nullptr;
}

const Entry* FindUnexpired(const LintCheck::Parts& parts, const KeyView& key) {
  const Entry* const entry = parts.data.keyspace[key.db].Find(key.key);
  return entry == nullptr || entry->IsExpired(parts.env.clock.WallMs()) ? nullptr : entry;
}

}  // namespace respite
