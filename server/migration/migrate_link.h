// Connections for the blocking form of MIGRATE, inside EXEC and scripts. MIGRATE outside of them uses Migrations.
//
// Inside EXEC and scripts, MIGRATE must be atomic, so the whole server waits for the socket, as in Redis. Each wait
// ends after the command's timeout; the name look-up and the attempts to connect share one timeout. Idle connections
// are kept for the next MIGRATE to the same server, and closed after a while.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "base/bytes.h"
#include "base/result.h"
#include "server/net/byte_stream.h"
#include "server/net/name_resolver.h"

namespace respite {

// Why there is no connection. kNoAddress: the host name has no address. kNoAnswer: the server refused the connection or
// did not accept the connection in time, or the name look-up took too long. kNoTls: TLS failed.
enum class ConnectError : uint8_t { kNoAddress, kNoAnswer, kNoTls };

class Tls;

// One TCP connection, with or without TLS. The other server may close a connection that is kept for the next MIGRATE.
// If so, Send or ReadLine fails, and HasTimedOut returns false.
class MigrateLink {  // one connection of MIGRATE to another server; each call waits for the socket
 public:
  // Connects to a server, without TLS if `tls` is null. `timeout_ms` limits the name look-up and connecting together,
  // and then the TLS handshake. Fails with the reason.
  static Result<std::unique_ptr<MigrateLink>, ConnectError> Connect(  // finds the host, connects, and starts TLS
      NameResolver& names, const std::string& host, const std::string& port, const Tls* tls, int64_t timeout_ms);
  MigrateLink(const MigrateLink&) = delete;
  MigrateLink& operator=(const MigrateLink&) = delete;
  ~MigrateLink();

  bool Send(Bytes request, int64_t timeout_ms);  // sends all; `timeout_ms` limits each 64 KB; false: not all was sent
  std::optional<std::string> ReadLine(int64_t timeout_ms);  // the next line, without its end; nullopt: failed
  bool HasTimedOut() const { return has_timed_out_; }       // true: a timeout made the last Send or ReadLine fail

  int64_t selected_db = 0;  // the database selected on the other server; -1: unknown
  int64_t used_at_ms = 0;   // when the connection was last used (clock time)

 private:
  explicit MigrateLink(ByteStream stream) : stream_(std::move(stream)) {}
  bool FinishHandshake(int64_t timeout_ms);         // finishes the TLS handshake; false: it failed
  bool SendPiece(Bytes piece, int64_t timeout_ms);  // sends up to 64 KB; false: it failed

  ByteStream stream_;           // socket, perhaps with TLS
  bool has_timed_out_ = false;  // true: a timeout made the last Send or ReadLine fail
  std::string received_;        // received bytes that ReadLine has not returned yet
};

class MigrateLinks {  // connections kept for the next MIGRATE in EXEC or a script, at most one for each host and port
 public:
  static constexpr size_t kMax = 64;
  static constexpr int64_t kIdleMs = 10'000;  // how long an unused connection is kept, in ms

  // Returns the kept connection to this server. If there is none, connects, with TLS unless `tls` is null. The pointer
  // is valid until the next call of any method. Fails with the reason if connecting fails.
  Result<MigrateLink*, ConnectError> Get(Bytes host, Bytes port, const Tls* tls,  // the kept connection, or a new one
                                         int64_t timeout_ms, int64_t now_ms);
  void Drop(Bytes host, Bytes port) { links_.erase(NameOf(host, port)); }
  void DropAll() { links_.clear(); }              // closes all kept connections
  void CloseIdleLinks(int64_t now_ms);            // closes the connections that were unused for kIdleMs
  size_t Count() const { return links_.size(); }  // number of kept connections

 private:
  static std::string NameOf(Bytes host, Bytes port) {  // the key of a connection in links_
    return std::string(host) + ':' + std::string(port);
  }
  void CloseLongestIdle();  // closes the connection that was unused for the longest time

  NameResolver names_;                                         // looks up host names
  std::map<std::string, std::unique_ptr<MigrateLink>> links_;  // kept for MIGRATE in EXEC and scripts, by "host:port"
};

}  // namespace respite
