#include "server/migration/migrate_talk.h"

#include "base/number_text.h"
#include "protocol/request_text.h"

namespace respite {

void MigrateTalk::AddKey(Bytes key, int64_t ttl_ms, Bytes payload, Existing existing) {
  keys_.emplace_back(key);
  if (existing == Existing::kReplaced) {
    AppendRequest(restores_, {"RESTORE", key, IntegerText(ttl_ms), payload, "REPLACE"});
  } else {
    AppendRequest(restores_, {"RESTORE", key, IntegerText(ttl_ms), payload});
  }
}

std::string MigrateTalk::Begin(int64_t selected_db) {
  std::string opening;
  preliminary_ = 0;
  earlier_error_.clear();
  answered_.clear();
  error_.clear();
  if (!auth_.empty()) {
    std::vector<Bytes> words = {"AUTH"};
    words.insert(words.end(), auth_.begin(), auth_.end());
    AppendRequest(opening, words);
    ++preliminary_;
  }
  if (selected_db != db_) {
    AppendRequest(opening, {"SELECT", IntegerText(db_)});
    ++preliminary_;
  }
  return opening;
}

void MigrateTalk::TakeAnswer(Bytes line) {
  const bool is_error = line.starts_with('-');
  if (preliminary_ > 0) {
    --preliminary_;
    if (is_error && earlier_error_.empty()) earlier_error_ = line;
    return;
  }
  const Bytes told = earlier_error_.empty() ? line : Bytes(earlier_error_);
  const bool is_accepted = !told.starts_with('-');
  answered_.push_back(is_accepted ? Answer::kAccepted : Answer::kRefused);
  if (!is_accepted && error_.empty()) error_ = told.substr(1);
}

}  // namespace respite
