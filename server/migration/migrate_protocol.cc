#include "server/migration/migrate_protocol.h"

#include "base/number_text.h"
#include "protocol/request_text.h"

namespace respite {

namespace {

// Returns the error text of the target server, or "(no text)" if it is empty, because an empty Error() means success.
std::string Quotable(Bytes error) { return error.empty() ? "(no text)" : std::string(error); }

}  // namespace

void MigrateProtocol::AddKey(Bytes key, int64_t ttl_ms, Bytes payload, Existing existing) {
  keys_.emplace_back(key);
  if (existing == Existing::kReplaced) {
    AppendRequest(restores_, {restore_, key, IntegerText(ttl_ms), payload, "REPLACE"});
  } else {
    AppendRequest(restores_, {restore_, key, IntegerText(ttl_ms), payload});
  }
}

std::string MigrateProtocol::Begin(int64_t selected_db) {
  std::string opening;
  preliminary_answer_count_ = 0;
  login_error_.clear();
  key_answers_.clear();
  error_.clear();
  if (!auth_.empty()) {
    std::vector<Bytes> words = {"AUTH"};
    words.insert(words.end(), auth_.begin(), auth_.end());
    AppendRequest(opening, words);
    ++preliminary_answer_count_;
  }
  if (selected_db != db_) {
    AppendRequest(opening, {"SELECT", IntegerText(db_)});
    ++preliminary_answer_count_;
  }
  return opening;
}

// Counts only an answer that begins with '+' as success. Redis takes every answer that is not an error for success, and
// then deletes the key. So it would lose a key that it sends, for example, to an HTTP server.
void MigrateProtocol::TakeAnswer(Bytes line) {
  const bool is_accepted = line.starts_with('+');
  const std::string error = is_accepted ? "" : line.starts_with('-') ? Quotable(line.substr(1)) : Quotable(line);
  if (preliminary_answer_count_ > 0) {
    --preliminary_answer_count_;
    if (login_error_.empty()) login_error_ = error;
    return;
  }
  const std::string& told = login_error_.empty() ? error : login_error_;
  key_answers_.push_back(told.empty() ? Answer::kAccepted : Answer::kRefused);
  if (error_.empty()) error_ = told;
}

}  // namespace respite
