// Connections to the servers that MIGRATE sends keys to.
//
// MIGRATE is one atomic command, so its caller waits on the socket, as in Redis; each wait ends after the time that the
// command gave. The look-up of a name and the attempts to connect share one such time. A connection is kept for the
// next MIGRATE to the same server, and closed when none comes.
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

// Why there is no connection: the host has no address, nobody answers there (within the time), or who does is not to be
// trusted.
enum class ConnectTrouble : uint8_t { kNoAddress, kNoAnswer, kNoTls };

class Tls;

// One TCP connection, with or without TLS. Any failure but a timeout may be that the other side has closed a connection
// that was kept.
class MigrateLink {
 public:
  // `tls` null: without.
  static Result<std::unique_ptr<MigrateLink>, ConnectTrouble> Connect(NameResolver& names, const std::string& host,
                                                                      const std::string& port, const Tls* tls,
                                                                      int64_t timeout_ms);
  MigrateLink(const MigrateLink&) = delete;
  MigrateLink& operator=(const MigrateLink&) = delete;
  ~MigrateLink();

  // False: not all was written; each 64 KB may take the time.
  bool Send(Bytes request, int64_t timeout_ms);
  // A line without its end, or nothing.
  std::optional<std::string> ReadLine(int64_t timeout_ms);
  // What made the last Send or ReadLine fail.
  bool TimedOut() const { return timed_out_; }

  // The database that the other side has selected for us; -1 when that is not known.
  int64_t selected_db = 0;
  int64_t used_at_ms = 0;

 private:
  explicit MigrateLink(ByteStream stream) : stream_(std::move(stream)) {}
  bool FinishHandshake(int64_t timeout_ms);
  bool SendPiece(Bytes piece, int64_t timeout_ms);

  ByteStream stream_;
  bool timed_out_ = false;
  std::string received_;
};

// The connections that are kept.
class MigrateLinks {
 public:
  static constexpr size_t kMax = 64;
  static constexpr int64_t kIdleMs = 10'000;

  // The connection that is kept, or a new one, with TLS unless `tls` is null. Good until the next call of one of these.
  Result<MigrateLink*, ConnectTrouble> Get(Bytes host, Bytes port, const Tls* tls, int64_t timeout_ms, int64_t now_ms);
  void Drop(Bytes host, Bytes port) { links_.erase(NameOf(host, port)); }
  void DropAll() { links_.clear(); }
  // Closes those that nobody used for a while.
  void CloseIdle(int64_t now_ms);
  size_t Count() const { return links_.size(); }

 private:
  static std::string NameOf(Bytes host, Bytes port) { return std::string(host) + ':' + std::string(port); }
  void MakeRoom();

  NameResolver names_;
  std::map<std::string, std::unique_ptr<MigrateLink>> links_;
};

}  // namespace respite
