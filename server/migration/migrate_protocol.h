// MigrateProtocol: the requests that MIGRATE sends to the target server, and the replies.
//
//   AUTH …, SELECT db          AUTH if MIGRATE has a password, SELECT if another database is selected
//   RESTORE key ttl payload …  one for each key; RESTORE-ASKING to a node of a cluster, which may still be importing
//                              the slot of the key
//
// All requests are sent together. The target replies to each with one line.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/bytes.h"

namespace respite {

class MigrateProtocol {  // composes the requests of one MIGRATE, and reads the replies
 public:
  static constexpr int64_t kUnknownDb = -1;  // instead of the number of the selected database, if that is not known
  enum class Target : uint8_t { kServer, kClusterNode };  // kClusterNode: needs RESTORE-ASKING
  enum class Existing : uint8_t { kRefused, kReplaced };  // what happens to a key that the target has: REPLACE or not

  // `auth`: the arguments of AUTH; empty: sends no AUTH. `db`: the database for the keys on the other server.
  MigrateProtocol(std::vector<std::string> auth, int64_t db, Target target)
      : auth_(std::move(auth)), db_(db), restore_(target == Target::kServer ? "RESTORE" : "RESTORE-ASKING") {}

  void AddKey(Bytes key, int64_t ttl_ms, Bytes payload, Existing existing);  // adds a key; `ttl_ms` 0: no TTL
  const std::vector<std::string>& Keys() const { return keys_; }

  // Begins the transfer on a connection on which the database `selected_db` is selected, and forgets earlier answers.
  // Returns the requests AUTH and SELECT for the caller to send, or an empty string if neither is needed.
  std::string Begin(int64_t selected_db);       // returns AUTH and SELECT, if needed; send them before Restores()
  Bytes Restores() const { return restores_; }  // the RESTORE requests for all keys
  void TakeAnswer(Bytes line);                  // handles the next reply line, without its end. Requires: !IsOver()
  bool IsOver() const { return key_answers_.size() == keys_.size(); }  // true: every key is answered

  size_t AnsweredKeyCount() const { return key_answers_.size(); }  // number of RESTORE requests that are answered
  bool HasAccepted(size_t key_index) const {                       // true: the other server has confirmed this key
    return key_index < key_answers_.size() && key_answers_[key_index] == Answer::kAccepted;
  }
  const std::string& Error() const { return error_; }  // first error (or unexpected) reply, without '-'; empty: none
  int64_t SelectedDb() const {  // database selected by a transfer that has ended without error, else kUnknownDb
    return IsOver() && error_.empty() ? db_ : kUnknownDb;
  }

 private:
  enum class Answer : uint8_t { kAccepted, kRefused };

  const std::vector<std::string> auth_;
  const int64_t db_;
  const Bytes restore_;  // the command for each key: RESTORE or RESTORE-ASKING
  std::vector<std::string> keys_;
  std::string restores_;                 // the RESTORE requests for all keys
  size_t preliminary_answer_count_ = 0;  // how many replies to AUTH and SELECT are still to come
  std::string login_error_;              // the error of AUTH or SELECT; counts as the error of each key
  std::vector<Answer> key_answers_;      // whether each answered key was stored, in the order of the keys
  std::string error_;                    // the first error of the other server, without '-'; empty: none
};

// The step in which a transfer of MIGRATE failed. kNone: no step failed.
enum class FailedMigrateStep : uint8_t { kNone, kConnecting, kWriting, kReading };

}  // namespace respite
