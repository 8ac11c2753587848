// Helpers for stream commands: parse IDs, write entries, propagate deliveries.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "datatypes/stream.h"
#include "server/execution/call.h"

namespace respite {

struct DialectTraits;

namespace refusals {

inline constexpr char kStreamId[] = "ERR Invalid stream ID specified as stream command argument";
// As in Redis, error texts show such a name only up to its first NUL byte.
inline std::string ShownName(Bytes name) {  // the name up to its first NUL byte, for an error text
  return std::string(name.substr(0, name.find('\0')));
}
inline Refusal NoSuchKeyOrGroup(Bytes key, Bytes group) {  // the error for a missing stream or group
  return {"NOGROUP No such key '" + ShownName(key) + "' or consumer group '" + ShownName(group) + "'"};
}
inline Refusal NoSuchGroup(Bytes group, Bytes key) {  // the error for a missing group
  return {"NOGROUP No such consumer group '" + ShownName(group) + "' for key name '" + ShownName(key) + "'"};
}

}  // namespace refusals

StreamId TakeStreamId(Bytes word);  // parses an ID; a missing sequence number counts as 0; throws if invalid

StreamId ParseRangeStart(Bytes word);  // parses `-`, `+`, an ID or `(ID` (exclusive) as the start of XRANGE
StreamId ParseRangeEnd(Bytes word);    // parses `-`, `+`, an ID or `(ID` (exclusive) as the end of XRANGE

void WriteEntry(Reply& reply, const StreamLog::Walk& entry);  // writes an entry as [id, [field, value, …]]
// Writes an array of the entries from one ID to another. Writes at most `most` entries, or all of them if `most` is 0.
void WriteEntries(Reply& reply, const StreamLog& log,  // writes an array of the entries between two IDs
                  const StreamId& from, const StreamId& to, uint64_t most, StreamLog::Order order);
bool WriteEntryOf(Reply& reply, const StreamLog& log, const StreamId& id);  // writes the entry `id`; false: none

struct GroupEdit {  // a consumer group that a command changes, with its stream
  Bytes key;
  Bytes name;
  Edit<Stream>& stream;  // the stream, opened for changes
  StreamGroup& group;    // the consumer group

  StreamLog& Log() const { return stream->Log(); }
};

ReadCounting ReadCountingOf(const DialectTraits& traits);  // how the emulated version counts the entries read by groups

// Finds a consumer, or creates and propagates it. Also sets its seen-time.
StreamConsumer& FindOrCreateConsumer(Call& call,  // finds a consumer, or creates and propagates it; sets its seen-time
                                     const GroupEdit& edit, Bytes name);
// Propagates a pending entry of a group, as an XCLAIM command.
void RecordPending(Call& call, const GroupEdit& edit,  // propagates a pending entry of a group, as XCLAIM
                   const StreamId& id, const PendingEntry& entry);
void RecordGroupPosition(Call& call, const GroupEdit& edit);  // propagates the group's last delivered ID

}  // namespace respite
