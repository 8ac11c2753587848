// RemovalRecorder: propagates the removals of XDELEX, XACKDEL and the options DELREF and ACKED, which are new in Redis
// 8.2, as XACK, XDEL and XTRIM (and XSETID, see RecordTrim). So older replicas can execute them.
#pragma once

#include <map>
#include <span>
#include <string>
#include <vector>

#include "datatypes/stream.h"
#include "server/execution/call.h"

namespace respite {

// Collects the entries and references that a command removes from one stream. Then propagates these removals instead of
// the command. Does nothing while commands are not propagated (no append-only file and no replicas).
class RemovalRecorder {  // propagates what XDELEX, XACKDEL, DELREF and ACKED remove, as older commands
 public:
  RemovalRecorder(Call& call, Bytes key) : call_(call), key_(key) {}

  void NoteAcknowledged(Bytes group, const StreamId& id);  // notes that the entry is no longer pending in this group
  // Must be called before the references are removed. Cost: O(groups * log n).
  void NoteReferencesDropped(const StreamLog& log, const StreamId& id);  // notes it as acknowledged in all its groups
  void NoteDeleted(const StreamId& id);                                  // notes that the entry is removed

  void RecordDeletion();  // propagates all noted IDs, as XACK and XDEL
  // XTRIM covers all removed entries before the first entry that is left, so NoteDeleted must have been called for at
  // least one of them, if there are any. Also requires: NoteDeleted was called for each later removed entry, in the
  // order of the IDs.
  void RecordTrim(const StreamLog& log);  // propagates all that was noted, as XACK, XTRIM, XDEL and XSETID

 private:
  void RecordAcknowledged();                      // propagates XACK for each group
  void RecordInBatches(std::vector<Bytes> begin,  // propagates all IDs, in commands of `begin` and up to 1000 IDs each
                       std::span<const StreamId> ids);

  Call& call_;
  const Bytes key_;
  std::map<std::string, std::vector<StreamId>, std::less<>> acknowledged_;  // entries no longer pending, by group
  std::vector<StreamId> deleted_;                                           // removed entries
};

}  // namespace respite
