// What the commands of streams share: IDs among the arguments, entries in replies, and the effects of delivering.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "datatypes/stream.h"
#include "server/execution/call.h"

namespace respite {

// An ID; nothing stands for the missing sequence number but 0.
StreamId TakeStreamId(Bytes word);

// The ends of a range: `-`, `+`, IDs, and with `(` before it an ID that is not part of it.
StreamId RangeStart(Bytes word);
StreamId RangeEnd(Bytes word);

// An entry as [id, [field, value, …]].
void WriteEntry(Reply& reply, const StreamLog::Walk& entry);
// The entries of a range as an array, at most `most` of them (0: all). Answers how many there were.
void WriteEntries(Reply& reply, const StreamLog& log, const StreamId& from, const StreamId& to, uint64_t most,
                  StreamLog::Order order);
// One entry. False, and nothing is written, when it does not exist.
bool WriteEntryOf(Reply& reply, const StreamLog& log, const StreamId& id);

// A group that a command changes, with the names that its effects need.
struct GroupEdit {
  Bytes key;
  Bytes name;
  Edit<Stream>& stream;
  StreamGroup& group;

  StreamLog& Log() const { return stream->Log(); }
};

// The consumer, which is made if need be, and now seen. Making it counts as a change.
StreamConsumer& SeeConsumer(Call& call, const GroupEdit& edit, Bytes name);
// Effects: what a pending entry has become, and how far a group has read.
void RecordPending(Call& call, const GroupEdit& edit, const StreamId& id, const PendingEntry& entry);
void RecordGroupPosition(Call& call, const GroupEdit& edit);

}  // namespace respite
