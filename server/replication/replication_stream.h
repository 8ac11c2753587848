// ReplicationStream: what replicas repeat: the effects of this server, or, while it is a replica itself, the stream of
// its primary, byte by byte. The last part of it is kept in the Backlog.
//
// It costs nothing before the first replica comes: Begin attaches it to the journals.
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
  // Whose effects it is made of.
  enum class Source : uint8_t { kOwn, kPrimary };

  // The data must outlive it.
  explicit ReplicationStream(Dataset& data) : data_(data) {}
  ~ReplicationStream() override { End(); }
  ReplicationStream(const ReplicationStream&) = delete;
  ReplicationStream& operator=(const ReplicationStream&) = delete;

  // Keeps a backlog from now on. Harmless when it does.
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
  // The next effect names its database: who hears the stream from here on cannot know it.
  void SelectAnew() { selected_db_ = -1; }
  // The history was replaced: the backlog begins anew at its end.
  void Restart();

  // Journal. Effects while the primary's stream is the source belong to nobody else.
  void Append(const UnitEffects& effects) override;
  // What it keeps beyond the backlog's size, for replicas that are behind.
  size_t BufferedBytes() const override {
    const auto wanted = static_cast<size_t>(backlog_limit_);
    return held_bytes_ > wanted ? held_bytes_ - wanted : 0;
  }
  // So much of it lies in memory, for the backlog and for replicas.
  void NoteHeldBytes(size_t bytes) { held_bytes_ = bytes; }
  // A request that is no effect: PING, REPLCONF GETACK. Requires: Source::kOwn. Nothing unless IsKept().
  void AppendRequest(std::span<const Bytes> words);
  void AppendRequest(std::initializer_list<Bytes> words) {
    AppendRequest(std::span<const Bytes>(words.begin(), words.size()));
  }
  // Bytes of the primary's stream that were applied. Requires: Source::kPrimary.
  void AppendApplied(const BlobPart& part);

 private:
  void AppendText(Bytes first, std::span<const Bytes> others);

  Dataset& data_;
  Source source_ = Source::kOwn;
  bool is_kept_ = false;
  int selected_db_ = -1;  // by what was appended; -1: none yet
  SharedLog log_;
  Backlog backlog_;
  size_t held_bytes_ = 0;
  int64_t backlog_limit_ = INT64_MAX;  // by the last Trim
  std::vector<Bytes> pieces_;          // of one group; kept for its memory
  std::deque<std::string> selects_;    // own those of them that are SELECT
};

}  // namespace respite
