#include "server/replication/handshake.h"

#include <algorithm>
#include <utility>

#include "base/log.h"
#include "base/number_text.h"
#include "base/str_cat.h"
#include "protocol/request_text.h"
#include "server/clients/replica.h"
#include "server/config/settings.h"
#include "server/dataset/history.h"
#include "server/replication/failover.h"

namespace respite {

namespace {

// The version that this replica announces by REPLCONF version. Redis does not know this option. A Valkey primary
// chooses the RDB version of the snapshot by it. Valkey 9 does not write deadlines of hash fields for a replica that
// announces an older version.
constexpr char kAnnouncedVersion[] = "9.0.0";

std::string EncodedRequest(std::initializer_list<Bytes> words) {
  std::string text;
  AppendRequest(text, words);
  return text;
}

bool IsHistoryId(Bytes text) {
  return text.size() == History::kIdLength && std::ranges::all_of(text, [](char c) { return c > ' ' && c < 127; });
}

}  // namespace

bool Handshake::IsWanted(Step step) const {
  if (step == Step::kAuth) return !parts_.env.settings.masterauth.empty();
  if (step == Step::kAddress) return !parts_.env.settings.replica_announce_ip.empty();
  return true;
}

std::string Handshake::NextRequest() {
  if (std::exchange(has_begun_, true)) {
    do {
      step_ = static_cast<Step>(static_cast<int>(step_) + 1);
    } while (!IsWanted(step_));
  }
  const Settings& settings = parts_.env.settings;
  switch (step_) {
    case Step::kPing:
      return EncodedRequest({"PING"});
    case Step::kAuth:
      if (settings.masteruser.empty()) return EncodedRequest({"AUTH", settings.masterauth});
      return EncodedRequest({"AUTH", settings.masteruser, settings.masterauth});
    case Step::kPort: {
      const int own = settings.tls_replication && settings.tls_port != 0 ? settings.tls_port : settings.bound_port;
      const int port = settings.replica_announce_port != 0 ? settings.replica_announce_port : own;
      return EncodedRequest({"REPLCONF", "listening-port", std::to_string(port)});
    }
    case Step::kAddress:
      return EncodedRequest({"REPLCONF", "ip-address", settings.replica_announce_ip});
    case Step::kCapabilities:
      return EncodedRequest({"REPLCONF", "capa", "eof", "capa", "psync2", "capa",
                             std::string(Replica::kIdCapability) + parts_.replica_id});
    case Step::kVersion:
      return EncodedRequest({"REPLCONF", "version", kAnnouncedVersion});
    case Step::kPsync:
      return PsyncRequest();
    case Step::kSync:
      break;
  }
  return "SYNC\r\n";
}

std::string Handshake::PsyncRequest() const {
  const History& history = parts_.history;
  if (may_continue_ == MayContinue::kNo) {
    parts_.env.log.Notice("Partial resynchronization not possible (no cached master)");
    return EncodedRequest({"PSYNC", "?", "-1"});
  }
  const std::string offset = std::to_string(history.offset + 1);
  parts_.env.log.Notice("Trying a partial resynchronization (request " + history.id + ":" + offset + ").");
  if (parts_.failover.state() == Failover::State::kInProgress) {
    return EncodedRequest({"PSYNC", history.id, offset, "FAILOVER"});
  }
  return EncodedRequest({"PSYNC", history.id, offset});
}

Handshake::Verdict Handshake::Fail(LogLevel level, std::string text) {
  parts_.env.log.Log(level, text);
  failure_ = std::move(text);
  return Verdict::kFail;
}

Handshake::Verdict Handshake::HandleLine(Bytes line) {
  if (line.empty()) return Verdict::kWait;  // the primary only says that it is alive
  const bool is_error = line.front() == '-';
  const std::string text(line);
  switch (step_) {
    case Step::kPing:
      return HandlePingReply(line);
    case Step::kAuth:
      if (!is_error) return Verdict::kNext;
      return Fail(LogLevel::kWarning, "Unable to AUTH to MASTER: " + text);
    case Step::kPort:
      if (is_error) parts_.env.log.Notice("(Non critical) Master does not understand REPLCONF listening-port: " + text);
      return Verdict::kNext;
    case Step::kAddress:
      if (is_error) parts_.env.log.Notice("(Non critical) Master does not understand REPLCONF ip-address: " + text);
      return Verdict::kNext;
    case Step::kCapabilities:
      if (is_error) parts_.env.log.Notice("(Non critical) Master does not understand REPLCONF capa: " + text);
      return Verdict::kNext;
    case Step::kVersion:
      if (is_error) parts_.env.log.Notice("(Non critical) Master does not understand REPLCONF version: " + text);
      return Verdict::kNext;
    case Step::kPsync:
      return HandlePsyncReply(line);
    case Step::kSync:
      break;
  }
  return Verdict::kFail;
}

// Handles the reply to PING. Accepts PONG. Also accepts the errors by which a primary asks for a password, because AUTH
// is the next request.
Handshake::Verdict Handshake::HandlePingReply(Bytes line) {
  const bool is_understood = line.front() == '+' || line.starts_with("-NOAUTH") || line.starts_with("-NOPERM") ||
                             line.starts_with("-ERR operation not permitted");
  if (!is_understood) {
    return Fail(LogLevel::kWarning, "Error reply to PING from master: '" + std::string(line) + "'");
  }
  parts_.env.log.Notice("Master replied to PING, replication can continue...");
  return Verdict::kNext;
}

Handshake::Verdict Handshake::HandlePsyncReply(Bytes line) {
  if (line.starts_with("+FULLRESYNC")) return ParseFullResync(line.substr(std::min<size_t>(line.size(), 12)));
  if (line.starts_with("+CONTINUE")) {
    if (may_continue_ == MayContinue::kNo) {
      return Fail(LogLevel::kWarning,
                  "Master continues a history that this replica does not have: " + std::string(line));
    }
    parts_.env.log.Notice("Successful partial resynchronization with master.");
    return ParseContinue(line.substr(9));
  }
  if (line.starts_with("-NOMASTERLINK") || line.starts_with("-LOADING")) {
    return Fail(LogLevel::kNotice,
                "Master is currently unable to PSYNC but should be in the future: " + std::string(line));
  }
  constexpr Bytes kAlreadyPrimary = "PSYNC FAILOVER can't be sent to a";
  if (parts_.failover.state() == Failover::State::kInProgress && line.find(kAlreadyPrimary) != Bytes::npos) {
    failure_ = "The failover target is a master already";
    parts_.env.log.Notice(failure_);
    return Verdict::kTargetIsPrimary;
  }
  if (line.starts_with("-ERR")) {
    parts_.env.log.Notice("Master does not support PSYNC or is in error state (reply: " + std::string(line) + ")");
    parts_.env.log.Notice("Retrying with SYNC...");
    return Verdict::kOldSync;
  }
  return Fail(LogLevel::kWarning, "Unexpected reply to PSYNC from master: " + std::string(line));
}

// Parses what follows +CONTINUE: nothing, or the replication ID, or the ID and an offset. The offset comes from a
// Respite primary that has crashed, if its new history begins at a larger offset (History::skipped_offsets).
Handshake::Verdict Handshake::ParseContinue(Bytes line) {
  while (line.starts_with(' ')) line.remove_prefix(1);
  const size_t id_digits = std::min(line.find(' '), line.size());
  const Bytes id = line.substr(0, id_digits);
  const History& history = parts_.history;
  if (IsHistoryId(id) && id != history.id) {
    parts_.env.log.Notice("Master replication ID changed to " + std::string(id));
    id_ = id;
  }
  if (id_digits == line.size()) return Verdict::kContinue;
  offset_ = ParseInteger(line.substr(id_digits + 1)).value_or(-1);
  if (id_.empty() || offset_ < history.offset || offset_ > History::kMaxOffset) {
    return Fail(LogLevel::kWarning, "Master replied with wrong +CONTINUE syntax.");
  }
  return Verdict::kContinue;
}

// Parses +FULLRESYNC: the replication ID and the offset. If the present data has the same ID, the primary has all of
// this history. Elections use this, because the old data stays until the snapshot has arrived.
Handshake::Verdict Handshake::ParseFullResync(Bytes line) {
  const size_t blank = line.find(' ');
  const Bytes id = line.substr(0, blank);
  const Bytes digits = blank == Bytes::npos ? Bytes() : line.substr(blank + 1);
  const int64_t offset = ParseInteger(digits).value_or(-1);
  if (!IsHistoryId(id) || offset < 0 || offset > History::kMaxOffset) {
    return Fail(LogLevel::kWarning, "Master replied with wrong +FULLRESYNC syntax.");
  }
  id_ = id;
  offset_ = offset;
  if (id == parts_.history.id) parts_.history.shared_until = History::kMaxOffset;
  parts_.env.log.Notice(StrCat("Full resync from master: ", id_, ":", offset_));
  return Verdict::kSnapshot;
}

}  // namespace respite
