// MigrateProtocol: what MIGRATE says to the other server, and what that answers.
//
//   AUTH …, SELECT db          as far as the connection needs them
//   RESTORE key ttl payload …  one for each key; to a node of a cluster, which may still import the slot of the key,
//                              RESTORE-ASKING
//
// Everything is sent at once; there is a line of answer for each request.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/bytes.h"

namespace respite {

class MigrateProtocol {
 public:
  static constexpr int64_t kUnknownDb = -1;
  enum class Target : uint8_t { kServer, kClusterNode };
  enum class Existing : uint8_t { kRefused, kReplaced };

  // `auth`: the words behind AUTH, if any. `db`: where the keys go.
  MigrateProtocol(std::vector<std::string> auth, int64_t db, Target target)
      : auth_(std::move(auth)), db_(db), restore_(target == Target::kServer ? "RESTORE" : "RESTORE-ASKING") {}

  // A `ttl_ms` of 0: none.
  void AddKey(Bytes key, int64_t ttl_ms, Bytes payload, Existing existing);
  const std::vector<std::string>& Keys() const { return keys_; }

  // Begins on a connection on which this database is selected, and forgets earlier answers. Returns what to send
  // before Restores().
  std::string Begin(int64_t selected_db);
  Bytes Restores() const { return restores_; }
  // Takes the next answer, without the end of its line. Requires: !IsOver().
  void TakeAnswer(Bytes line);
  // Every answer is there.
  bool IsOver() const { return answered_.size() == keys_.size(); }

  // How many of the keys were answered for.
  size_t Acknowledged() const { return answered_.size(); }
  // Whether the other server has this key now.
  bool HasAccepted(size_t key) const { return key < answered_.size() && answered_[key] == Answer::kAccepted; }
  // Its first error, without the '-'; empty: none.
  const std::string& Error() const { return error_; }
  // The database that is selected now.
  int64_t SelectedDb() const { return IsOver() && error_.empty() ? db_ : kUnknownDb; }

 private:
  enum class Answer : uint8_t { kAccepted, kRefused };

  const std::vector<std::string> auth_;
  const int64_t db_;
  const Bytes restore_;  // the command
  std::vector<std::string> keys_;
  std::string restores_;
  size_t preliminary_ = 0;     // answers to come before the first RESTORE's
  std::string earlier_error_;  // of AUTH or SELECT; it counts against each key
  std::vector<Answer> answered_;
  std::string error_;
};

// How far a transfer came that did not end well.
enum class MigrateTrouble : uint8_t { kNone, kConnecting, kWriting, kReading };

}  // namespace respite
