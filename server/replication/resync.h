// Resync: one full synchronisation of this replica. Receives the snapshot of the primary, and replaces the data and the
// history of this server with it.
//
// The header of the snapshot is checked before the old data is dropped, so a snapshot of an unknown version changes
// nothing here. From the moment at which the old history is dropped, until all new data is loaded, History::data says
// that there is no data.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "base/bytes.h"
#include "server/replication/direct_load.h"
#include "server/replication/snapshot_file.h"
#include "server/replication/snapshot_receiver.h"

namespace respite {

class Replicas;
class ReplicationStream;
struct Services;

class Resync final : private SnapshotTarget {  // one full synchronisation of this replica from its primary
 public:
  struct Parts {                // the arguments of the constructor
    const Services& services;   // the other parts of this server
    Replicas& replicas;         // the replicas of this server
    ReplicationStream& stream;  // the stream to this server's own replicas
  };
  // Prepares this replica to receive a snapshot from its primary. The snapshot is the data of the history `id` (a
  // replication ID) at `offset`. This server takes over that history with the snapshot.
  Resync(const Parts& parts, std::string id, int64_t offset);

  // kMore: more bytes must arrive. kWhole: the whole snapshot has arrived; Install must be called.
  enum class Status : uint8_t { kMore, kWhole, kFailed };
  // Handles bytes that the primary has sent, and removes the handled bytes from the front of `bytes`.
  Status Take(Bytes& bytes);
  // Returns loading-process-events-interval-bytes while the snapshot is loaded directly, else SIZE_MAX.
  size_t MaxBytesPerTurn() const;  // how many received bytes Take may get in one turn of the event loop
  bool Install();                  // once Take has returned kWhole: makes the snapshot the server's data; false: failed
  void Abandon();  // ends an incomplete synchronisation; deletes what it loaded, not old data that is still there

  bool HasDroppedOldData() const { return has_dropped_old_data_; }  // true: the old data and history are gone
  const std::string& failure() const override;  // why the synchronisation failed; empty: no failure, or the link broke
  const SnapshotReceiver& receiver() const { return receiver_; }  // extracts the snapshot; knows how much has arrived

 private:
  bool Write(Bytes bytes) override;  // checks the RDB header, then passes all bytes to target_; false: failed
  bool Finish() override;            // completes the file or the direct load; false if that failed
  // Moves the header of the snapshot from the front of `bytes` to head_. Once the header is complete, checks it, calls
  // Begin, and writes the header to target_. Returns false if this version of Respite cannot read the snapshot, or if
  // writing it to target_ fails.
  bool TakeHeader(Bytes& bytes);       // collects the header, then checks it and calls Begin; false: failed
  bool Fail(const std::string& text);  // logs the error, keeps it in failure_, returns false
  bool Begin();                        // chooses where the snapshot goes: direct load or file; false if that failed
  bool LoadsDirectly() const;          // whether repl-diskless-load lets this replica load without a file
  bool BeginFile();                    // creates the file that receives the snapshot; false if that failed
  void BeginDirectLoad();              // begins to load the arriving snapshot; without swapdb, deletes the old data
  void DropOldHistory();   // changes the replication ID, disconnects replicas, turns the AOF off; the data stays
  void KillChild();        // stops the child process, such as a background save of the old data
  void FlushOldData();     // deletes all keys and functions
  bool LoadFile();         // loads the received file; false if that failed
  void NotifyOfNewData();  // notifies watching and blocked clients of the new keys
  void TurnAofBackOn();    // starts the append-only file again, if `appendonly` is on

  const Parts parts_;                      // the arguments of the constructor
  const std::string id_;                   // ID of the history that the snapshot contains
  const int64_t offset_;                   // replication offset of the snapshot
  SnapshotReceiver receiver_;              // extracts the snapshot from its framing
  std::optional<SnapshotFile> file_;       // receives the snapshot, unless it is loaded directly
  std::optional<DirectLoad> direct_load_;  // loads the snapshot while it arrives; empty: it goes to a file
  std::string head_;                       // the bytes of the header of the snapshot that have arrived
  SnapshotTarget* target_ = nullptr;       // file_ or direct_load_; null before the header has arrived
  std::string failure_;                    // an error of Resync itself; empty: none (but see file_, direct_load_)
  bool has_dropped_old_data_ = false;      // the old data and its history have been dropped
};

}  // namespace respite
