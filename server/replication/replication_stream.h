// ReplicationStream: the stream that replicas apply: the propagated commands of this server or, on a replica, the
// unchanged stream of its primary. The Backlog keeps the last part of it.
//
// ReplicationStream costs nothing until Begin attaches it to the journals. Mostly, Begin is called when the first
// replica connects.
#pragma once

#include <cstdint>
#include <deque>
#include <initializer_list>
#include <span>
#include <string>
#include <vector>

#include "base/bytes.h"
#include "protocol/shared_log.h"
#include "server/dataset/dataset.h"
#include "server/replication/backlog.h"

namespace respite {

class ReplicationStream final : public Journal {  // the commands that replicas apply; keeps their last part as backlog
 public:
  enum class Source : uint8_t { kOwn, kPrimary };  // kOwn: this server's commands; kPrimary: its primary's stream

  // Makes a stream without a backlog. Requires: `data` outlives this object.
  explicit ReplicationStream(Dataset& data) : data_(data) {}
  ~ReplicationStream() override { End(); }
  ReplicationStream(const ReplicationStream&) = delete;
  ReplicationStream& operator=(const ReplicationStream&) = delete;

  void Begin();                                     // from now on, keeps a backlog; does nothing if there is a backlog
  void End();                                       // drops the backlog; the stream then ignores commands until Begin
  bool HasBacklog() const { return has_backlog_; }  // true: a backlog exists
  const Backlog& backlog() const { return backlog_; }  // the last part of the stream
  void Trim(int64_t bytes, int64_t needed_from) {
    backlog_limit_ = bytes;
    backlog_.Trim(bytes, needed_from);
  }

  void SetSource(Source source) { source_ = source; }  // the stream gets this server's, or its primary's, commands
  Source source() const { return source_; }            // whose commands the stream has: this server's or its primary's
  void ForgetSelectedDb() { selected_db_ = -1; }  // puts SELECT before the next command, for a replica that joins now
  void Restart();  // after the history was replaced: empties the backlog, which continues at the new offset

  // Functions of Journal. On a replica (source kPrimary), Append ignores the commands, because the primary's stream,
  // which the replica passes on, contains them.
  void Append(const PropagatedGroup& group) override;  // adds propagated commands; nothing if the source is kPrimary
  size_t BufferedBytes() const override {              // memory of backlog and replicas' output above repl-backlog-size
    const auto wanted = static_cast<size_t>(backlog_limit_);
    return held_bytes_ > wanted ? held_bytes_ - wanted : 0;
  }
  void SetHeldBytes(size_t bytes) { held_bytes_ = bytes; }  // sets the bytes of backlog and replicas' output
  // Appends a request that is not a propagated command: PING, REPLCONF GETACK. Does nothing on a replica
  // (Source::kPrimary), or without a backlog.
  void AppendRequest(std::span<const Bytes> words);         // adds a request such as PING
  void AppendRequest(std::initializer_list<Bytes> words) {  // adds a request such as PING
    AppendRequest(std::span<const Bytes>(words.begin(), words.size()));
  }
  // Adds one part of the primary's stream, after it was applied here: advances the replication offset by its size, and
  // adds it to the backlog, if there is one.
  void AppendApplied(const BlobPart& part);  // adds one part of the primary's stream, after it was applied here

 private:
  // Adds requests in RESP form: `first`, then `others`. Either may be empty. The replication offset grows.
  void AppendEncoded(Bytes first, std::span<const Bytes> others);  // adds requests in RESP form to the stream

  Dataset& data_;                      // its `history.offset` grows with the stream
  Source source_ = Source::kOwn;       // whose commands the stream has: this server's or its primary's
  bool has_backlog_ = false;           // true: a backlog exists
  int selected_db_ = -1;               // the database that the stream has selected so far; -1: none yet
  SharedLog log_;                      // owns the bytes of the stream
  Backlog backlog_;                    // the last part of the stream, for replicas that reconnect
  size_t held_bytes_ = 0;              // memory of the backlog and of the replicas' output, in bytes
  int64_t backlog_limit_ = INT64_MAX;  // repl-backlog-size, as passed to the last Trim
  std::vector<Bytes> pieces_;          // commands of one propagated group; kept to reuse its memory
  std::deque<std::string> selects_;    // texts of the SELECT commands to which pieces_ refers
};

}  // namespace respite
