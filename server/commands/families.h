// The command families of this server. A new file with a command family must be added to this list.
#pragma once

#include <memory>
#include <span>

#include "server/catalogue/command_table.h"
#include "server/catalogue/version_mark.h"

// The list of all command families, in the order in which COMMAND lists their commands.
// clang-format off
#define RESPITE_COMMAND_FAMILIES(FAMILY) \
  FAMILY(StringCommands) \
  FAMILY(StringConditionCommands) \
  FAMILY(CounterCommands) \
  FAMILY(BitmapCommands) \
  FAMILY(HyperLogLogCommands) \
  FAMILY(ListCommands) \
  FAMILY(ListBlockingCommands) \
  FAMILY(ListMoveCommands) \
  FAMILY(SetCommands) \
  FAMILY(SetAlgebraCommands) \
  FAMILY(SortedSetCommands) \
  FAMILY(SortedSetBlockingCommands) \
  FAMILY(SortedSetRangeCommands) \
  FAMILY(SortedSetAlgebraCommands) \
  FAMILY(KeyCommands) \
  FAMILY(ExpiryCommands) \
  FAMILY(DumpCommands) \
  FAMILY(MigrateCommands) \
  FAMILY(SortCommands) \
  FAMILY(HashCommands) \
  FAMILY(HashExpiryCommands) \
  FAMILY(HashImportCommands) \
  FAMILY(GeoCommands) \
  FAMILY(StreamCommands) \
  FAMILY(StreamDeleteCommands) \
  FAMILY(StreamIdempotencyCommands) \
  FAMILY(StreamReadCommands) \
  FAMILY(StreamGroupCommands) \
  FAMILY(StreamClaimCommands) \
  FAMILY(StreamInfoCommands) \
  FAMILY(ArrayCommands) \
  FAMILY(ArrayRingCommands) \
  FAMILY(ArraySearchCommands) \
  FAMILY(ArrayGrepCommands) \
  FAMILY(VectorCommands) \
  FAMILY(VectorElementCommands) \
  FAMILY(VectorSearchCommands) \
  FAMILY(JsonCommands) \
  FAMILY(JsonReadCommands) \
  FAMILY(JsonChangeCommands) \
  FAMILY(JsonArrayCommands) \
  FAMILY(WaitCommands) \
  FAMILY(PubSubCommands) \
  FAMILY(TransactionCommands) \
  FAMILY(ScriptingCommands) \
  FAMILY(FunctionCommands) \
  FAMILY(DatabaseCommands) \
  FAMILY(ConnectionCommands) \
  FAMILY(ClientCommands) \
  FAMILY(ClientTrackingCommands) \
  FAMILY(CommandCommands) \
  FAMILY(InfoCommands) \
  FAMILY(ConfigCommands) \
  FAMILY(ObserveCommands) \
  FAMILY(MemoryCommands) \
  FAMILY(HotKeysCommands) \
  FAMILY(DebugCommands) \
  FAMILY(ServerCommands) \
  FAMILY(PersistenceCommands) \
  FAMILY(BackupCommands) \
  FAMILY(ReplicationCommands) \
  FAMILY(ClusterCommands) \
  FAMILY(ClusterScanCommands) \
  FAMILY(ClusterNodeCommands) \
  FAMILY(ClusterReportCommands) \
  FAMILY(ClusterSlotCommands) \
  FAMILY(ClusterSlotMigrationCommands) \
  FAMILY(ClusterSlotStatsCommands) \
  FAMILY(ClusterSlotSyncCommands) \
  FAMILY(SentinelCommands) \
  FAMILY(SentinelChangeCommands) \
  FAMILY(SentinelReportCommands) \
  FAMILY(TestCommands) \
  FAMILY(TestAwaitCommands) \
  FAMILY(TestClockCommands) \
  FAMILY(TestClusterCommands) \
  FAMILY(TestCrashCommands) \
  FAMILY(TestFaultCommands) \
  FAMILY(TestFixtureCommands) \
  FAMILY(TestJournalCommands) \
  FAMILY(TestLintCommands) \
  FAMILY(TestPushCommands) \
  FAMILY(TestSnapshotCommands) \
  FAMILY(TestWorldCommands) \
  FAMILY(AclCommands)
// clang-format on

namespace respite {

#define RESPITE_DECLARE_FAMILY(Name) std::span<const CommandCard> Name();
RESPITE_COMMAND_FAMILIES(RESPITE_DECLARE_FAMILY)  // declares one function for each family
#undef RESPITE_DECLARE_FAMILY

std::span<const std::span<const CommandCard>> CommandFamilies();  // the tables of commands of all families

// Returns the commands that servers of this kind have, without those that the emulated version lacks. The first call
// creates the set, which all servers of this kind and version share. Thread-safe.
std::shared_ptr<const CommandSet> AllCommands(Where where = Where::kDataServers,  // the commands of this kind of server
                                              Emulated emulated = Emulated::kNone);

}  // namespace respite
