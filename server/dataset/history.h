// History: the replication history of the data, and the offset reached in it. A replica asks for a history by its ID
// and an offset. A snapshot stores the ID and the offset.
//
// The history of a primary is its replication stream, in bytes. A replica has the history of its primary. A server that
// becomes a primary begins a new history under a new ID, but remembers the old ID and the offset at which the old
// history ended. So other replicas of the former primary may continue from there (PSYNC2).
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>

#include "base/random.h"

namespace respite {

struct History {                           // replication history of the data: its replication ID (replid) and offset
  static constexpr size_t kIdLength = 40;  // number of hexadecimal digits
  static constexpr int64_t kMaxOffset = int64_t{1} << 60;  // larger offsets of a peer are invalid

  std::string id = RandomHex(kIdLength);
  int64_t offset = 0;                                   // bytes of the replication stream so far (master_repl_offset)
  std::string former_id = std::string(kIdLength, '0');  // replication ID of the previous history (master_replid2)
  int64_t former_end = -1;  // the previous history ended before this offset; -1: there is none
  // After a crash, a primary leaves out the offsets up to the number in its OffsetFile, which the previous history may
  // have reached. Only a replica that has all former_end - 1 bytes of the previous history can continue then.
  int64_t skipped_offsets = 0;  // how many offsets are left out between the previous history and this one
  int stream_db = 0;            // number of the database that the stream's last SELECT selected
  int64_t least_offset = 0;     // a history that this server begins has at least this offset (OffsetFile)
  bool is_shared = false;  // true: other servers (replicas, a primary) may have this history, so snapshots store it
  // True: the data has changes that are not in this history. Clients of a writable replica made them, or the eviction
  // of a replica, here or on the server from which the data comes. Other servers that continue this history lack them.
  bool has_local_writes = false;  // true: a replica made changes of its own, which the history lacks

  // How the data in memory is related to the history of the primary that this server follows. On a primary, this is
  // always kWhole.
  enum class Data : uint8_t {  // how the data in memory is related to the primary's history
    kWhole,                    // the state of the history at `offset`
    kNone,                     // a replica without data, which has not loaded its primary's data
    kDiverged,                 // a command of the primary failed here, so its change is missing
    kOther,                    // the state of this history at `offset`, but the new primary may have another history
  };
  Data data = Data::kWhole;
  // How many bytes of this history the primary of this replica is known to share. After a failover, the new primary's
  // history may be different from there on. kMaxOffset: all bytes, because the primary has sent or continued this data.
  // 0: unknown, because the primary may have another history.
  int64_t shared_until = kMaxOffset;  // offset up to which the primary shares this history; kMaxOffset: all; 0: unknown

  // Returns the offset by which elections compare the replicas of one primary. It does not count bytes that the primary
  // may lack: in their place the primary has others, which this replica lacks. The result is negative if nothing is
  // known to be shared. Any other replica is then preferred, and of two such replicas the one with the larger offset.
  int64_t OffsetInElections() const {  // bytes shared with the primary; negative: none are known to be shared
    return shared_until == 0 ? offset - kMaxOffset : std::min(offset, shared_until);
  }
  // Called on a replica without a link, if its primary may have another continuation of the history here.
  void NotePrimaryMovedOn() {  // replicas with a link to the primary now win elections against this one
    if (IsConfirmed()) shared_until = 0;
  }
  void Confirm() {  // notes that the data is complete, and that the primary (or this server) has all of its history
    data = Data::kWhole;
    shared_until = kMaxOffset;
  }
  static int64_t PlainOffset(int64_t offset_in_elections) {  // converts a result of OffsetInElections to an offset
    return offset_in_elections < 0 ? offset_in_elections + kMaxOffset : offset_in_elections;
  }
  bool HasComparableOffset() const { return shared_until != 0; }   // false: a replica with true is preferred
  bool IsConfirmed() const { return shared_until == kMaxOffset; }  // true: the primary has this whole history

  bool IsWhole() const { return data == Data::kWhole; }  // true: complete data, which every failover but TAKEOVER needs
  bool IsKnown() const {  // true: a partial resynchronisation may continue from this data
    return data == Data::kWhole || data == Data::kOther;
  }
  // Returns the offset in this history at which a replica continues that has all bytes of the history `requested_id`
  // before `from`. Returns nullopt if these bytes do not belong to this history, or if the replica lacks some that come
  // before left out offsets. Does not compare with `offset`. A partial resynchronisation also needs the bytes from
  // there on in the backlog.
  std::optional<int64_t> FindContinuation(const std::string& requested_id,  // where a replica of this ID continues
                                          int64_t from) const {
    if (requested_id == id) return from - 1;
    if (former_end < 0 || requested_id != former_id || from > former_end) return std::nullopt;
    if (skipped_offsets != 0 && from != former_end) return std::nullopt;
    return from - 1 + skipped_offsets;
  }
  void ShiftReplicationId(std::string new_id) {  // changes the replication ID; the old ID becomes former_id
    former_id = std::move(id);
    former_end = offset + 1;
    skipped_offsets = 0;
    id = std::move(new_id);
  }
  void ShiftReplicationId() { ShiftReplicationId(RandomHex(kIdLength)); }  // begins a new history
  void ReplaceWith(std::string other_id, int64_t other_offset) {  // takes over a history; forgets the former one
    id = std::move(other_id);
    offset = other_offset;
    has_local_writes = false;
    ForgetFormerHistory();
  }
  // Continues this history at `begin`, after its last byte: the offsets in between are left out. Requires: begin >=
  // offset, and the history was just begun by ShiftReplicationId, or with a former_id.
  void LeaveOutOffsetsBefore(int64_t begin) {  // the next byte has the offset begin + 1
    skipped_offsets += begin - offset;
    offset = begin;
  }
  void ForgetFormerHistory() {  // from now on no replica may continue the former history
    former_id.assign(kIdLength, '0');
    former_end = -1;
    skipped_offsets = 0;
  }
};

}  // namespace respite
