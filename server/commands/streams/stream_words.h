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
// Redis: these errors cut names at the first NUL.
inline std::string ShownName(Bytes name) { return std::string(name.substr(0, name.find('\0'))); }
inline Refusal NoSuchKeyOrGroup(Bytes key, Bytes group) {
  return {"NOGROUP No such key '" + ShownName(key) + "' or consumer group '" + ShownName(group) + "'"};
}
inline Refusal NoSuchGroup(Bytes group, Bytes key) {
  return {"NOGROUP No such consumer group '" + ShownName(group) + "' for key name '" + ShownName(key) + "'"};
}

}  // namespace refusals

// Parses an ID. A missing sequence number counts as 0.
StreamId TakeStreamId(Bytes word);

// Parse the ends of a range: `-`, `+`, IDs, and IDs with `(`, which are exclusive.
StreamId RangeStart(Bytes word);
StreamId RangeEnd(Bytes word);

// Writes an entry as [id, [field, value, …]].
void WriteEntry(Reply& reply, const StreamLog::Walk& entry);
// Writes an array of the entries of a range, at most `most` (0: all).
void WriteEntries(Reply& reply, const StreamLog& log, const StreamId& from, const StreamId& to, uint64_t most,
                  StreamLog::Order order);
// Writes one entry. Returns false and writes nothing if it does not exist.
bool WriteEntryOf(Reply& reply, const StreamLog& log, const StreamId& id);

// A group that a command changes, with the names for its propagated commands.
struct GroupEdit {
  Bytes key;
  Bytes name;
  Edit<Stream>& stream;
  StreamGroup& group;

  StreamLog& Log() const { return stream->Log(); }
};

// Returns how the emulated version counts the entries that groups have read.
ReadCounting CountingOf(const DialectTraits& traits);

// Finds or creates the consumer and marks it as seen. Creating it counts as a change.
StreamConsumer& SeeConsumer(Call& call, const GroupEdit& edit, Bytes name);
// Propagate the state of a pending entry, and the group's last delivered ID.
void RecordPending(Call& call, const GroupEdit& edit, const StreamId& id, const PendingEntry& entry);
void RecordGroupPosition(Call& call, const GroupEdit& edit);

}  // namespace respite
