// ReplicationStream: the stream that replicas apply: the propagated commands of this server or, on a replica, the
// unchanged stream of its primary. The Backlog keeps the last part of it.
//
// It costs nothing before the first replica connects, because only Begin attaches it to the journals.
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

class ReplicationStream final : public Journal {
 public:
  // Source of the stream's commands
  enum class Source : uint8_t { kOwn, kPrimary };

  // `data` must outlive the stream.
  explicit ReplicationStream(Dataset& data) : data_(data) {}
  ~ReplicationStream() override { End(); }
  ReplicationStream(const ReplicationStream&) = delete;
  ReplicationStream& operator=(const ReplicationStream&) = delete;

  // Keeps a backlog from now on. Does nothing if it is already kept.
  void Begin();
  // Drops the backlog.
  void End();
  bool IsKept() const { return is_kept_; }
  const Backlog& backlog() const { return backlog_; }
  void Trim(int64_t bytes, int64_t needed_from) {
    backlog_limit_ = bytes;
    backlog_.Trim(bytes, needed_from);
  }

  void SetSource(Source source) { source_ = source; }
  Source source() const { return source_; }
  // Makes the next propagated command select its database, since a replica that joins now does not know the selected
  // one.
  void SelectAnew() { selected_db_ = -1; }
  // Empties the backlog after the history was replaced. It continues at the end of the new history.
  void Restart();

  // Journal. Ignores effects while the source is the primary's stream, since that stream contains them.
  void Append(const UnitEffects& effects) override;
  // Returns the number of bytes beyond the backlog's size that are kept for slow replicas.
  size_t BufferedBytes() const override {
    const auto wanted = static_cast<size_t>(backlog_limit_);
    return held_bytes_ > wanted ? held_bytes_ - wanted : 0;
  }
  // Records the memory of the stream, for the backlog and for replicas.
  void NoteHeldBytes(size_t bytes) { held_bytes_ = bytes; }
  // Appends a request that is not a propagated command: PING, REPLCONF GETACK. Requires: Source::kOwn. Does nothing
  // unless IsKept().
  void AppendRequest(std::span<const Bytes> words);
  void AppendRequest(std::initializer_list<Bytes> words) {
    AppendRequest(std::span<const Bytes>(words.begin(), words.size()));
  }
  // Appends bytes of the primary's stream that were applied. Requires: Source::kPrimary.
  void AppendApplied(const BlobPart& part);

 private:
  void AppendText(Bytes first, std::span<const Bytes> others);

  Dataset& data_;
  Source source_ = Source::kOwn;
  bool is_kept_ = false;
  int selected_db_ = -1;  // by the stream so far; -1: no SELECT yet
  SharedLog log_;
  Backlog backlog_;
  size_t held_bytes_ = 0;
  int64_t backlog_limit_ = INT64_MAX;  // by the last Trim
  std::vector<Bytes> pieces_;          // of one group; kept to reuse its memory
  std::deque<std::string> selects_;    // own the SELECT commands in pieces_
};

}  // namespace respite
