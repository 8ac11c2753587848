// Helpers for stream commands: parse IDs, write entries, propagate deliveries.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "datatypes/stream.h"
#include "server/execution/call.h"

namespace respite {

struct DialectTraits;

namespace refusals {

inline constexpr char kStreamId[] = "ERR Invalid stream ID specified as stream command argument";
// As in Redis, error texts show the name of a key or a consumer group only up to its first NUL byte.
inline std::string ShownName(Bytes name) {  // the name of a key or group up to its first NUL byte, for an error text
  return std::string(name.substr(0, name.find('\0')));
}
inline Refusal NoSuchKeyOrGroup(Bytes key, Bytes group) {  // error: key or group is missing
  return {"NOGROUP No such key '" + ShownName(key) + "' or consumer group '" + ShownName(group) + "'"};
}
inline Refusal NoSuchGroup(Bytes group, Bytes key) {  // error: the stream has no such group
  return {"NOGROUP No such consumer group '" + ShownName(group) + "' for key name '" + ShownName(key) + "'"};
}

}  // namespace refusals

// Takes KEEPREF, DELREF or ACKED: what deleting an entry does to the references of consumer groups. Returns false if
// the next argument is none of them, or if `references` already has a value.
bool TryTakeReferences(Args& args, std::optional<GroupReferences>& references);  // KEEPREF, DELREF, ACKED; false: none
// Takes the number of IDs (after the token IDS) and this many IDs, as the client wrote them.
std::span<const Bytes> TakeCountedIds(Args& args);  // takes `numids id…`; throws a Refusal if fewer IDs follow
// Parses all IDs, so that a command can refuse an invalid one before it changes anything.
std::vector<StreamId> ParseStreamIds(std::span<const Bytes> words);  // throws a Refusal for an invalid ID

StreamId TakeStreamId(Bytes word);  // parses an ID; a missing sequence number counts as 0; throws if invalid

StreamId ParseRangeStart(Bytes word);  // parses `-`, `+`, an ID or `(ID` (exclusive): start of a range
StreamId ParseRangeEnd(Bytes word);    // parses `-`, `+`, an ID or `(ID` (exclusive): end of a range

void WriteEntryElements(Reply& reply, const StreamLog::Walk& entry);  // writes the ID, and [field, value, …]
void WriteEntry(Reply& reply, const StreamLog::Walk& entry);          // writes an entry as [id, [field, value, …]]
// Writes an array of the entries from the ID `from` to the ID `to`, both included. kBackward writes the highest ID
// first. Writes at most `most` entries, or all of them if `most` is 0.
void WriteEntries(Reply& reply, const StreamLog& log,  // writes an array of the entries between two IDs
                  const StreamId& from, const StreamId& to, uint64_t most, StreamLog::Order order);
bool WriteEntryOf(Reply& reply, const StreamLog& log, const StreamId& id);  // writes entry `id`; false: no live entry

// Sets the limits of the directives stream-idmp-… if the stream is new: it has never had an entry, and has no groups.
void PrepareIfNew(const Call& call, StreamLog& log);  // sets the limits stream-idmp-… if the stream is new
// Returns the idempotent ID that IDMPAUTO gives an entry. The ID has 16 bytes, and does not depend on the order of the
// pairs.
std::string IdempotentIdOf(std::span<const Bytes> fields_and_values);  // the ID that IDMPAUTO gives an entry: 16 bytes

struct OpenedGroup {  // a consumer group, with its key and its stream, which is opened for changes
  Bytes key;
  Bytes name;
  Edit<Stream>& stream;  // the stream, opened for changes
  StreamGroup& group;    // the consumer group

  StreamLog& Log() const { return stream->Log(); }
};

inline constexpr int64_t kReleasedIdleMs = -1;  // shown as the idle time of an entry that XNACK released

ReadCounting ReadCountingOf(const DialectTraits& traits);  // how the emulated version computes entries-read and lag

// Finds a consumer of a group. If there is none of this name, creates the consumer and propagates the creation. In both
// cases sets the consumer's seen-time to now.
StreamConsumer& FindOrCreateConsumer(Call& call,  // finds a consumer, or creates and propagates it; sets its seen-time
                                     const OpenedGroup& opened, Bytes name);
// Propagates a pending entry of a group, as an XCLAIM command.
void RecordPending(Call& call, const OpenedGroup& opened,  // propagates a pending entry of a group, as XCLAIM
                   const StreamId& id, const PendingEntry& entry);
void RecordGroupPosition(Call& call, const OpenedGroup& opened);  // propagates last ID and read count, as XGROUP SETID

}  // namespace respite
