#include "server/replication/replication_stream.h"

#include <utility>

#include "protocol/request_text.h"
#include "server/dataset/history.h"
#include "server/dataset/journal.h"

namespace respite {

void ReplicationStream::Begin() {
  if (std::exchange(has_backlog_, true)) return;
  Restart();
  data_.journals.Attach(*this);
}

void ReplicationStream::End() {
  if (!std::exchange(has_backlog_, false)) return;
  data_.journals.Detach(*this);
  backlog_.Restart(data_.history.offset);
}

void ReplicationStream::Restart() {
  backlog_.Restart(data_.history.offset);
  ForgetSelectedDb();
}

void ReplicationStream::Append(const PropagatedGroup& group) {
  if (source_ == Source::kPrimary) return;
  struct {
    ReplicationStream& stream;
    void Piece(Bytes text) { stream.pieces_.push_back(text); }
    void Select(std::string text) { stream.pieces_.push_back(stream.selects_.emplace_back(std::move(text))); }
  } take{*this};
  WrapInSelectAndMulti(group, JournalEntry::kReplicas, selected_db_, take);
  if (!pieces_.empty()) {
    data_.history.stream_db = selected_db_;
    AppendEncoded({}, pieces_);
  }
  pieces_.clear();
  selects_.clear();
}

void ReplicationStream::AppendRequest(std::span<const Bytes> words) {
  if (!has_backlog_ || source_ == Source::kPrimary) return;
  std::string text;
  respite::AppendRequest(text, words);
  AppendEncoded(text, {});
}

void ReplicationStream::AppendEncoded(Bytes first, std::span<const Bytes> others) {
  const BlobPart part = log_.Append(first, others);
  data_.history.offset += static_cast<int64_t>(part.size);
  backlog_.Append(part);
}

void ReplicationStream::AppendApplied(const BlobPart& part) {
  data_.history.offset += static_cast<int64_t>(part.size);
  if (has_backlog_) backlog_.Append(part);
}

}  // namespace respite
