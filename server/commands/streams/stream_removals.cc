#include "server/commands/streams/stream_removals.h"

#include <algorithm>

namespace respite {

void RemovalRecorder::NoteAcknowledged(Bytes group, const StreamId& id) {
  if (call_.effect.IsRecording()) acknowledged_[std::string(group)].push_back(id);
}

void RemovalRecorder::NoteReferencesDropped(const StreamLog& log, const StreamId& id) {
  if (!call_.effect.IsRecording()) return;
  for (const auto& [name, group] : log.groups()) {
    if (group.FindPending(id) != nullptr) NoteAcknowledged(name, id);
  }
}

void RemovalRecorder::NoteDeleted(const StreamId& id) {
  if (call_.effect.IsRecording()) deleted_.push_back(id);
}

void RemovalRecorder::RecordDeletion() {
  RecordAcknowledged();
  RecordInBatches({"XDEL", key_}, deleted_);
}

void RemovalRecorder::RecordTrim(const StreamLog& log) {
  if (!call_.effect.IsRecording() || deleted_.empty()) return;
  RecordAcknowledged();
  // Propagates the removals before the first entry that is left as XTRIM, and those after it as XDEL. (With ACKED, an
  // entry that stays may precede removed entries.)
  const bool is_empty = log.Length() == 0;
  const auto kept = is_empty ? deleted_.end() : std::ranges::lower_bound(deleted_, log.FirstId());
  if (is_empty) {
    call_.effect.Replace("XTRIM", key_, "MAXLEN", "=", 0);
  } else if (kept != deleted_.begin()) {
    call_.effect.Replace("XTRIM", key_, "MINID", "=", StreamIdText(log.FirstId()).View());
  }
  if (kept == deleted_.end()) return;
  RecordInBatches({"XDEL", key_}, {kept, deleted_.end()});
  // On replicas, the XDEL above raises the greatest deleted ID of the stream, which the trim has not changed on this
  // server. So propagates an XSETID that sets it back. (An ID of 0-0 stays raised there, because no command can set
  // 0-0.)
  const StreamId& max_deleted = log.MaxDeletedId();
  if (max_deleted.IsZero() || max_deleted > deleted_.back()) return;
  call_.effect.Replace("XSETID", key_, StreamIdText(log.LastId()).View(), "ENTRIESADDED",
                       static_cast<int64_t>(log.EntriesAdded()), "MAXDELETEDID", StreamIdText(max_deleted).View());
}

void RemovalRecorder::RecordAcknowledged() {
  for (const auto& [group, ids] : acknowledged_) RecordInBatches({"XACK", key_, group}, ids);
}

void RemovalRecorder::RecordInBatches(std::vector<Bytes> begin, std::span<const StreamId> ids) {
  constexpr size_t kPerCommand = 1000;
  for (; !ids.empty(); ids = ids.subspan(std::min(kPerCommand, ids.size()))) {
    std::vector<std::string> words(begin.begin(), begin.end());
    for (const StreamId& id : ids.first(std::min(kPerCommand, ids.size()))) words.push_back(StreamIdText(id).Text());
    call_.effect.Replace(words);
  }
}

}  // namespace respite
