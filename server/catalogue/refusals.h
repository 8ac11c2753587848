// Error texts that clients see. Handlers throw them as `throw Refusal{refusals::kSyntax}`.
#pragma once

#include <span>
#include <string>

#include "base/bytes.h"
#include "base/number_text.h"
#include "base/refusal.h"

namespace respite::refusals {

inline constexpr char kSyntax[] = "ERR syntax error";
inline constexpr char kNotInteger[] = "ERR value is not an integer or out of range";
inline constexpr char kNotFloat[] = "ERR value is not a valid float";
inline constexpr char kReplyTooLong[] = "ERR the reply would have more than 10000000 elements or 512 MB";
inline constexpr char kMonitorDenied[] = "ERR MONITOR isn't allowed for DENY BLOCKING client";
inline constexpr char kOutOfRange[] = "ERR value is out of range";
inline constexpr char kMustBePositive[] = "ERR value is out of range, must be positive";
inline constexpr char kWrongType[] = "WRONGTYPE Operation against a key holding the wrong kind of value";
inline constexpr char kIndexOutOfRange[] = "ERR index out of range";
inline constexpr char kNoSuchKey[] = "ERR no such key";
inline constexpr char kDbIndex[] = "ERR DB index is out of range";
inline constexpr char kOverflow[] = "ERR increment or decrement would overflow";
inline constexpr char kDecrementOverflow[] = "ERR decrement would overflow";
inline constexpr char kNanOrInfinity[] = "ERR increment would produce NaN or Infinity";
inline constexpr char kIsNanOrInfinity[] = "ERR value is NaN or Infinity";
inline constexpr char kHashNotInteger[] = "ERR hash value is not an integer";
inline constexpr char kHashNotFloat[] = "ERR hash value is not a float";
inline constexpr char kNotLong[] =
    "ERR value is out of range, value must between -9223372036854775807 and 9223372036854775807";
inline constexpr char kFieldsMissing[] = "ERR Mandatory argument FIELDS is missing or not at the right position";
inline constexpr char kFieldCountZero[] = "ERR Parameter `numFields` should be greater than 0";
inline constexpr char kFieldCountNotPositive[] = "ERR Number of fields must be a positive integer";
inline constexpr char kFieldCountMismatch[] = "ERR The `numfields` parameter must match the number of arguments";
inline constexpr char kExpireNegative[] = "ERR invalid expire time, must be >= 0";
inline constexpr char kOneGetExpiry[] = "ERR Only one of EX, PX, EXAT, PXAT or PERSIST arguments can be specified";
inline constexpr char kOneSetExpiry[] = "ERR Only one of EX, PX, EXAT, PXAT or KEEPTTL arguments can be specified";
inline constexpr char kOneFieldCondition[] = "ERR Only one of FXX or FNX arguments can be specified";
inline constexpr char kStringTooLong[] = "ERR string exceeds maximum allowed size (proto-max-bulk-len)";
inline constexpr char kOffsetOutOfRange[] = "ERR offset is out of range";
inline constexpr char kSameObject[] = "ERR source and destination objects are the same";
inline constexpr char kTimeoutNotFloat[] = "ERR timeout is not a float or out of range";
inline constexpr char kTimeoutNotInteger[] = "ERR timeout is not an integer or out of range";
inline constexpr char kTimeoutOutOfRange[] = "ERR timeout is out of range";
inline constexpr char kTimeoutNegative[] = "ERR timeout is negative";
inline constexpr char kNotInt[] = "ERR value is out of range, value must between -2147483648 and 2147483647";
inline constexpr char kNotZeroOrOne[] = "ERR value is out of range, value must between 0 and 1";
inline constexpr char kSortByDenied[] = "ERR BY option of SORT denied due to insufficient ACL permissions.";
inline constexpr char kSortGetDenied[] = "ERR GET option of SORT denied due to insufficient ACL permissions.";
inline constexpr char kBadUserName[] = "ERR Usernames can't contain spaces or null characters";
inline constexpr char kDefaultUserStays[] = "ERR The 'default' user cannot be removed";
inline constexpr char kGenPassBits[] =
    "ERR ACL GENPASS argument must be the number of bits for the output password, a positive number up to 4096";
inline constexpr char kNoAclFile[] =
    "ERR This Redis instance is not configured to use an ACL file. You may want to specify users via the ACL SETUSER "
    "command and then issue a CONFIG REWRITE (assuming you have a Redis configuration file set) in order to store "
    "users in the Redis configuration.";
inline constexpr char kAclNotSaved[] =
    "ERR There was an error trying to save the ACLs. Please check the server logs for more information";
inline constexpr char kClusterDisabled[] = "ERR This instance has cluster support disabled";
inline constexpr char kInvalidMasterPort[] = "ERR Invalid master port";
inline constexpr char kReplicaofDuringFailover[] = "ERR REPLICAOF not allowed while failing over.";
inline constexpr char kReplicaofByReplica[] = "ERR Command is not valid when client is a replica.";
inline constexpr char kNoPrimaryLink[] = "NOMASTERLINK Can't SYNC while not connected with my master";
inline constexpr char kFilterNeedsEof[] = "ERR Filtered replica requires EOF capability";
inline constexpr char kSyncWithPendingOutput[] = "ERR SYNC and PSYNC are invalid with pending output";
inline constexpr char kFailoverInProgress[] = "ERR FAILOVER already in progress.";
inline constexpr char kFailoverOfReplica[] = "ERR FAILOVER is not valid when server is a replica.";
inline constexpr char kFailoverForceIncomplete[] =
    "ERR FAILOVER with force option requires both a timeout and target HOST and IP.";
inline constexpr char kFailoverTargetOffline[] = "ERR FAILOVER target replica is not online.";
inline constexpr char kFailoverTargetUnknown[] = "ERR FAILOVER target HOST and PORT is not a replica.";
inline constexpr char kFailoverToPrimary[] = "ERR PSYNC FAILOVER can't be sent to a master.";
inline constexpr char kFailoverOtherHistory[] = "ERR PSYNC FAILOVER replid must match my replid.";
inline constexpr char kReadOnlyReplica[] = "READONLY You can't write against a read only replica.";
inline constexpr char kPrimaryDown[] =
    "MASTERDOWN Link with MASTER is down and replica-serve-stale-data is set to 'no'.";
inline constexpr char kWaitOfReplica[] =
    "ERR WAIT cannot be used with replica instances. Please also note that since Redis 4.0 if a replica is configured "
    "to be writable (which is not the default) writes to replicas are just local and are not propagated.";
inline constexpr char kWaitAofOfReplica[] =
    "ERR WAITAOF cannot be used with replica instances. Please also note that writes to replicas are just local and "
    "are not propagated.";
inline constexpr char kNoFailover[] = "ERR No failover in progress.";
inline constexpr char kFailoverTimeout[] = "ERR FAILOVER timeout must be greater than 0";
inline constexpr char kFailoverWithoutReplicas[] = "ERR FAILOVER requires connected replicas.";
inline constexpr char kInvalidFirstDb[] = "ERR invalid first DB index";
inline constexpr char kInvalidSecondDb[] = "ERR invalid second DB index";
inline constexpr char kExpireNxWithOthers[] = "ERR NX and XX, GT or LT options at the same time are not compatible";
inline constexpr char kExpireGtWithLt[] = "ERR GT and LT options at the same time are not compatible";
inline constexpr char kWaitAofDisabled[] =
    "ERR WAITAOF cannot be used when numlocal is set but appendonly is disabled.";
inline constexpr char kIdleTimeUnderLfu[] =
    "ERR An LFU maxmemory policy is selected, idle time not tracked. Please note that when switching between policies "
    "at runtime LRU and LFU data will take some time to adjust.";
inline constexpr char kFrequencyWithoutLfu[] =
    "ERR An LFU maxmemory policy is not selected, access frequency not tracked. Please note that when switching "
    "between policies at runtime LRU and LFU data will take some time to adjust.";
inline constexpr char kLcsNotStrings[] = "ERR The specified keys must contain string values";
inline constexpr char kLcsLenAndIdx[] = "ERR If you want both the length and indexes, please just use IDX.";
inline constexpr char kLcsTooLong[] = "ERR String too long for LCS";
inline constexpr char kLcsTableOverLimit[] =
    "ERR Insufficient memory, transient memory for LCS exceeds proto-max-bulk-len";
inline constexpr char kLcsNoMemory[] = "ERR Insufficient memory, failed allocating transient memory for LCS";
inline constexpr char kBitOffset[] = "ERR bit offset is not an integer or out of range";
inline constexpr char kBitValue[] = "ERR bit is not an integer or out of range";
inline constexpr char kBitWanted[] = "ERR The bit argument must be 1 or 0.";
inline constexpr char kBitOpNotKeys[] = "ERR BITOP NOT must be called with a single source key.";
inline constexpr char kFieldType[] =
    "ERR Invalid bitfield type. Use something like i16 u8. Note that u64 is not supported but i64 is.";
inline constexpr char kFieldOverflow[] = "ERR Invalid OVERFLOW type specified";
inline constexpr char kFieldReadOnly[] = "ERR BITFIELD_RO only supports the GET subcommand";
inline constexpr char kNotHyperLogLog[] = "WRONGTYPE Key is not a valid HyperLogLog string value.";
inline constexpr char kCorruptHyperLogLog[] = "INVALIDOBJ Corrupted HLL object detected";
inline constexpr char kNoSuchHyperLogLog[] = "ERR The specified key does not exist";
inline constexpr char kHyperLogLogNotSparse[] = "ERR HLL encoding is not sparse";
inline constexpr char kNumKeysPositive[] = "ERR numkeys should be greater than 0";
inline constexpr char kTooManyKeys[] = "ERR Number of keys can't be greater than number of args";
inline constexpr char kCountPositive[] = "ERR count should be greater than 0";
inline constexpr char kCountNegative[] = "ERR COUNT can't be negative";
inline constexpr char kMaxLenNegative[] = "ERR MAXLEN can't be negative";
inline constexpr char kRankZero[] =
    "ERR RANK can't be zero: use 1 to start from the first match, 2 from the second ... or use negative to start from "
    "the end of the list";
inline constexpr char kRankOutOfRange[] =
    "ERR value is out of range, value must between -9223372036854775807 and 9223372036854775807";
inline constexpr char kLimitNegative[] = "ERR LIMIT can't be negative";
inline constexpr char kScoreRange[] = "ERR min or max is not a float";
inline constexpr char kLexRange[] = "ERR min or max not valid string range item";
inline constexpr char kNxWithXx[] = "ERR XX and NX options at the same time are not compatible";
inline constexpr char kGtLtOrNx[] = "ERR GT, LT, and/or NX options at the same time are not compatible";
inline constexpr char kIncrementOfMany[] = "ERR INCR option supports a single increment-element pair";
inline constexpr char kScoreNotANumber[] = "ERR resulting score is not a number (NaN)";
inline constexpr char kLimitOfRanks[] =
    "ERR syntax error, LIMIT is only supported in combination with either BYSCORE or BYLEX";
inline constexpr char kWithScoresByLex[] = "ERR syntax error, WITHSCORES not supported in combination with BYLEX";
inline constexpr char kWeightNotFloat[] = "ERR weight value is not a float";
inline constexpr char kGeoUnit[] = "ERR unsupported unit provided. please use M, KM, FT, MI";
inline constexpr char kGeoRadiusNotNumber[] = "ERR need numeric radius";
inline constexpr char kGeoWidthNotNumber[] = "ERR need numeric width";
inline constexpr char kGeoHeightNotNumber[] = "ERR need numeric height";
inline constexpr char kGeoRadiusNegative[] = "ERR radius cannot be negative";
inline constexpr char kGeoBoxNegative[] = "ERR height or width cannot be negative";
inline constexpr char kGeoNoSuchMember[] = "ERR could not decode requested zset member";
inline constexpr char kGeoCountNotPositive[] = "ERR COUNT must be > 0";
inline constexpr char kGeoAnyWithoutCount[] = "ERR the ANY argument requires COUNT argument";
inline constexpr char kGeoRadiusStoreWith[] =
    "ERR STORE option in GEORADIUS is not compatible with WITHDIST, WITHHASH and WITHCOORD options";
inline constexpr char kGeoSearchStoreWith[] =
    "ERR GEOSEARCHSTORE is not compatible with WITHDIST, WITHHASH and WITHCOORD options";
inline constexpr char kStreamId[] = "ERR Invalid stream ID specified as stream command argument";
inline constexpr char kStreamRangeStart[] = "ERR invalid start ID for the interval";
inline constexpr char kStreamRangeEnd[] = "ERR invalid end ID for the interval";
inline constexpr char kStreamTwoTrims[] =
    "ERR syntax error, MAXLEN and MINID options at the same time are not compatible";
inline constexpr char kStreamMaxLength[] = "ERR The MAXLEN argument must be >= 0.";
inline constexpr char kStreamTrimLimit[] = "ERR The LIMIT argument must be >= 0.";
inline constexpr char kStreamLimitWithoutTrim[] =
    "ERR syntax error, LIMIT cannot be used without specifying a trimming strategy";
inline constexpr char kStreamLimitOfExact[] = "ERR syntax error, LIMIT cannot be used without the special ~ option";
inline constexpr char kStreamNoTrim[] = "ERR syntax error, XTRIM must be called with a trimming strategy";
inline constexpr char kStreamIdZero[] = "ERR The ID specified in XADD must be greater than 0-0";
inline constexpr char kStreamIdNotAbove[] =
    "ERR The ID specified in XADD is equal or smaller than the target stream top item";
inline constexpr char kStreamExhausted[] =
    "ERR The stream has exhausted the last possible ID, unable to add more items";
inline constexpr char kStreamEntryTooLarge[] = "ERR Elements are too large to be stored";
inline constexpr char kStreamEntriesAdded[] = "ERR entries_added must be positive";
inline constexpr char kStreamSetIdBelowGiven[] =
    "ERR The ID specified in XSETID is smaller than the provided max_deleted_entry_id";
inline constexpr char kStreamSetIdBelowDeleted[] =
    "ERR The ID specified in XSETID is smaller than current max_deleted_entry_id";
inline constexpr char kStreamSetIdBelowTop[] =
    "ERR The ID specified in XSETID is smaller than the target stream top item";
inline constexpr char kStreamEntriesAddedBelowLength[] =
    "ERR The entries_added specified in XSETID is smaller than the target stream length";
inline constexpr char kStreamGroupOfXRead[] =
    "ERR The GROUP option is only supported by XREADGROUP. You called XREAD instead.";
inline constexpr char kStreamNoAckOfXRead[] =
    "ERR The NOACK option is only supported by XREADGROUP. You called XREAD instead.";
inline constexpr char kStreamGroupMissing[] = "ERR Missing GROUP option for XREADGROUP";
inline constexpr char kStreamLastIdInGroup[] =
    "ERR The $ ID is meaningless in the context of XREADGROUP: you want to read the history of this consumer by "
    "specifying a proper ID, or use the > ID to get new messages. The $ ID would just return an empty result set.";
inline constexpr char kStreamNewIdWithoutGroup[] =
    "ERR The > ID can be specified only when calling XREADGROUP using the GROUP <group> <consumer> option.";
inline constexpr char kStreamGroupNeedsKey[] =
    "ERR The XGROUP subcommand requires the key to exist. Note that for CREATE you may want to use the MKSTREAM "
    "option to create an empty stream automatically.";
inline constexpr char kStreamEntriesRead[] = "ERR value for ENTRIESREAD must be positive or -1";
inline constexpr char kStreamGroupExists[] = "BUSYGROUP Consumer Group name already exists";
inline constexpr char kStreamClaimMinIdle[] = "ERR Invalid min-idle-time argument for XCLAIM";
inline constexpr char kStreamClaimIdle[] = "ERR Invalid IDLE option argument for XCLAIM";
inline constexpr char kStreamClaimTime[] = "ERR Invalid TIME option argument for XCLAIM";
inline constexpr char kStreamClaimRetryCount[] = "ERR Invalid RETRYCOUNT option argument for XCLAIM";
inline constexpr char kStreamAutoClaimMinIdle[] = "ERR Invalid min-idle-time argument for XAUTOCLAIM";
inline constexpr char kStreamAutoClaimCount[] = "ERR COUNT must be > 0";
inline constexpr char kNotSortable[] = "ERR One or more scores can't be converted into double";
inline constexpr char kInvalidCursor[] = "ERR invalid cursor";
inline constexpr char kGetKeysCommand[] = "ERR Invalid command specified";
inline constexpr char kGetKeysNoKeys[] = "ERR The command has no key arguments";
inline constexpr char kGetKeysArity[] = "ERR Invalid number of arguments specified for command";
inline constexpr char kGetKeysArguments[] = "ERR Invalid arguments specified for command";
inline constexpr char kOutOfMemory[] = "OOM command not allowed when used memory > 'maxmemory'.";
inline constexpr char kNoAuth[] = "NOAUTH Authentication required.";
inline constexpr char kWrongPass[] = "WRONGPASS invalid username-password pair or user is disabled.";

inline constexpr char kAuthWithoutPassword[] =
    "ERR AUTH <password> called without any password configured for the default user. Are you sure your configuration "
    "is "
    "correct?";
inline constexpr char kProtocolNotInteger[] = "ERR Protocol version is not an integer or out of range";
inline constexpr char kNoProto[] = "NOPROTO unsupported protocol version";
inline constexpr char kHelloNoAuth[] =
    "NOAUTH HELLO must be called with the client already authenticated, otherwise the HELLO <proto> AUTH <user> <pass> "
    "option can be used to authenticate the client and select the RESP protocol version at the same time";
inline constexpr char kResetOfReplica[] = "ERR can only reset normal client connections";
inline constexpr char kReplicaWithoutKeys[] = "ERR Replica can't interact with the keyspace";
inline constexpr char kClientName[] = "ERR Client names cannot contain spaces, newlines or special characters.";
inline constexpr char kClientId[] = "ERR Invalid client ID";
inline constexpr char kClientIdPositive[] = "ERR client-id should be greater than 0";
inline constexpr char kNoSuchClient[] = "ERR No such client";
inline constexpr char kPauseMode[] = "ERR CLIENT PAUSE mode must be WRITE or ALL";
inline constexpr char kOneRedirect[] = "ERR A client can only redirect to a single other client";
inline constexpr char kRedirectUnknown[] = "ERR The client ID you want redirect to does not exist";
inline constexpr char kPrefixWithoutBcast[] = "ERR PREFIX option requires BCAST mode to be enabled";
inline constexpr char kBcastSwitch[] =
    "ERR You can't switch BCAST mode on/off before disabling tracking for this client, and then re-enabling it with a "
    "different mode.";
inline constexpr char kOptWithBcast[] = "ERR OPTIN and OPTOUT are not compatible with BCAST";
inline constexpr char kOptInAndOut[] = "ERR You can't specify both OPTIN mode and OPTOUT mode";
inline constexpr char kOptSwitch[] =
    "ERR You can't switch OPTIN/OPTOUT mode before disabling tracking for this client, and then re-enabling it with a "
    "different mode.";
inline constexpr char kCachingWithoutOpt[] =
    "ERR CLIENT CACHING can be called only when the client is in tracking mode with OPTIN or OPTOUT mode enabled";
inline constexpr char kCachingYes[] = "ERR CLIENT CACHING YES is only valid when tracking is enabled in OPTIN mode.";
inline constexpr char kCachingNo[] = "ERR CLIENT CACHING NO is only valid when tracking is enabled in OPTOUT mode.";
inline constexpr char kNoScript[] = "NOSCRIPT No matching script. Please use EVAL.";
inline constexpr char kKeysAboveArgs[] = "ERR Number of keys can't be greater than number of args";
inline constexpr char kNegativeKeys[] = "ERR Number of keys can't be negative";
inline constexpr char kUnknownInScript[] = "ERR Unknown Redis command called from script";
inline constexpr char kWrongArityInScript[] = "ERR Wrong number of args calling Redis command from script";
inline constexpr char kNotInScript[] = "ERR This Redis command is not allowed from script";
inline constexpr char kWriteInReadOnlyScript[] = "ERR Write commands are not allowed from read-only scripts.";
inline constexpr char kWritingScriptOnReplica[] = "READONLY Can not run script with write flag on readonly replica.";
inline constexpr char kStaleInScript[] = "ERR Can not execute the command on a stale replica";
inline constexpr char kWritingScriptReadOnly[] = "ERR Can not execute a script with write flag using *_ro command.";
inline constexpr char kScriptOutOfMemory[] =
    "OOM allow-oom flag is not set on the script, can not run it when used memory > 'maxmemory'";
inline constexpr char kBusyScript[] =
    "BUSY Redis is busy running a script. You can only call SCRIPT KILL or SHUTDOWN NOSAVE.";
inline constexpr char kBusyFunction[] =
    "BUSY Redis is busy running a script. You can only call FUNCTION KILL or SHUTDOWN NOSAVE.";
inline constexpr char kNoScriptRuns[] = "NOTBUSY No scripts in execution right now.";
inline constexpr char kScriptOfRecord[] =
    "UNKILLABLE The busy script was sent by a master instance in the context of replication and cannot be killed.";
inline constexpr char kNotOfRecord[] = "ERR This command does not belong into an append-only file";
inline constexpr char kScriptHasWritten[] =
    "UNKILLABLE Sorry the script already executed write commands against the dataset. You can either wait the script "
    "termination or kill the server in a hard way using the SHUTDOWN NOSAVE command.";
inline constexpr char kScriptFlushMode[] = "ERR SCRIPT FLUSH only support SYNC|ASYNC option";
inline constexpr char kScriptDebugMode[] = "ERR Use SCRIPT DEBUG YES/SYNC/NO";
inline constexpr char kNoScriptDebugger[] = "ERR Scripts cannot be debugged: there is no debugger";
inline constexpr char kNoReplicas[] = "NOREPLICAS Not enough good replicas to write.";
inline constexpr char kNotInTransaction[] = "ERR Command not allowed inside a transaction";
inline constexpr char kNestedMulti[] = "ERR MULTI calls can not be nested";
inline constexpr char kExecWithoutMulti[] = "ERR EXEC without MULTI";
inline constexpr char kDiscardWithoutMulti[] = "ERR DISCARD without MULTI";
inline constexpr char kWatchInMulti[] = "ERR WATCH inside MULTI is not allowed";
inline constexpr char kExecBroken[] = "EXECABORT Transaction discarded because of previous errors.";
inline constexpr char kUnblockedByRole[] =
    "UNBLOCKED force unblock from blocking operation, instance state changed (master -> replica?)";
inline constexpr char kUnblocked[] = "UNBLOCKED client unblocked via CLIENT UNBLOCK";
inline constexpr char kUnblockReason[] = "ERR CLIENT UNBLOCK reason should be TIMEOUT or ERROR";

inline constexpr char kDebugNotAllowed[] =
    "ERR DEBUG command not allowed. If the enable-debug-command option is set to \"local\", you can run it from a "
    "local "
    "connection, otherwise you need to set this option in the configuration file, and then restart the server.";
inline constexpr char kModuleNotAllowed[] =
    "ERR MODULE command not allowed. If the enable-module-command option is set to \"local\", you can run it from a "
    "local "
    "connection, otherwise you need to set this option in the configuration file, and then restart the server.";

inline constexpr char kNoConfigFile[] = "ERR The server is running without a config file";

inline constexpr char kNoFunction[] = "ERR Function not found";
inline constexpr char kBadKeyCount[] = "ERR Bad number of keys provided";
inline constexpr char kNoLibrary[] = "ERR Library not found";
inline constexpr char kRestorePolicy[] =
    "ERR Wrong restore policy given, value should be either FLUSH, APPEND or REPLACE.";
inline constexpr char kFunctionDraft[] = "ERR Pre-GA function format not supported";
inline constexpr char kNotAFunction[] = "ERR given type is not a function";
inline constexpr char kLibraryPayload[] = "ERR Failed loading library payload";
inline constexpr char kFunctionFlushMode[] = "ERR FUNCTION FLUSH only supports SYNC|ASYNC option";
inline constexpr char kLibraryNameMissing[] = "ERR library name argument was not given";
inline constexpr char kModuleLoad[] = "ERR Error loading the extension. Please check the server logs.";
inline constexpr char kModuleUnload[] = "ERR Error unloading module: no such module with that name";
inline constexpr char kIsLoading[] = "LOADING Redis is loading the dataset in memory";
inline constexpr char kSnapshotFailed[] =
    "MISCONF Redis is configured to save RDB snapshots, but it's currently unable to persist to disk. Commands that "
    "may "
    "modify the data set are disabled, because this instance is configured to report errors during writes if RDB "
    "snapshotting fails (stop-writes-on-bgsave-error option). Please check the Redis logs for details about the RDB "
    "error.";
inline constexpr char kSnapshotFailedForScripts[] =
    "MISCONF Redis is configured to save RDB snapshots, but it's currently unable to persist to disk. Writable scripts "
    "are blocked. Use 'no-writes' flag for read only scripts.";
inline Refusal AofFailed(Bytes why) { return {"MISCONF Errors writing to the AOF file: " + std::string(why)}; }
inline Refusal AofFailedForScripts(Bytes why) {
  return {
      "MISCONF Redis is configured to persist data to AOF, but it's currently unable to persist to disk. Writable "
      "scripts are blocked. Use 'no-writes' flag for read only scripts. AOF error: " +
      std::string(why)};
}
inline constexpr char kUnspecified[] = "ERR";
inline constexpr char kRewriteRuns[] = "ERR Background append only file rewriting already in progress";
inline constexpr char kRewriteFailed[] =
    "ERR Can't execute an AOF background rewriting. Please check the server logs for more information.";
inline constexpr char kLoadAofFailed[] = "ERR Error trying to load the AOF files, check server logs.";
inline constexpr char kSaveRuns[] = "ERR Background save already in progress";
inline constexpr char kOtherChildRuns[] =
    "ERR Another child process is active (AOF?): can't BGSAVE right now. Use BGSAVE SCHEDULE in order to schedule a "
    "BGSAVE whenever possible.";
inline constexpr char kReloadOptions[] = "ERR DEBUG RELOAD only supports the MERGE, NOFLUSH and NOSAVE options.";
inline constexpr char kReloadFailed[] = "ERR Error trying to load the RDB dump, check server logs.";
inline constexpr char kShutdownFailed[] = "ERR Errors trying to SHUTDOWN. Check logs.";
inline constexpr char kNoShutdown[] = "ERR No shutdown in progress.";

inline constexpr char kBusyKey[] = "BUSYKEY Target key name already exists.";
inline constexpr char kPayloadChecksum[] = "ERR DUMP payload version or checksum are wrong";
inline constexpr char kPayloadFormat[] = "ERR Bad data format";
inline constexpr char kRestoreTtl[] = "ERR Invalid TTL value, must be >= 0";
inline constexpr char kRestoreIdleTime[] = "ERR Invalid IDLETIME value, must be >= 0";
inline constexpr char kRestoreFrequency[] = "ERR Invalid FREQ value, must be >= 0 and <= 255";
inline constexpr char kMigrateKeyWithKeys[] =
    "ERR When using MIGRATE KEYS option, the key argument must be set to the empty string";
inline constexpr char kMigrateConnect[] = "IOERR error or timeout connecting to the client";
inline constexpr char kMigrateWrite[] = "IOERR error or timeout writing to target instance";
inline constexpr char kMigrateChanged[] =
    "ERR Keys that were changed while they were sent stay here, and the target has their old values";
inline constexpr char kMigrateRead[] = "IOERR error or timeout reading to target instance";

inline constexpr char kSlowlogCount[] = "ERR count should be greater than or equal to -1";
inline constexpr char kPackedThreshold[] = "ERR argument must be a memory value bigger than 1 and smaller than 4gb";
inline constexpr char kNotListpack[] = "ERR Not a listpack encoded object.";
inline constexpr char kNotQuicklist[] = "ERR Not a quicklist encoded object.";
inline constexpr char kNotHashTable[] =
    "ERR The value stored at the specified key is not represented using an hash table";
inline constexpr char kNoSuchDatabase[] = "ERR Out of range database";
inline constexpr char kPopulateMemory[] = "ERR OOM in dictTryExpand";
inline constexpr char kProtocolType[] =
    "ERR Wrong protocol type name. Please use one of the following: "
    "string|integer|double|bignum|null|array|set|map|attrib|push|verbatim|true|false";
inline constexpr char kNeedsResp3[] = "ERR RESP2 is not supported by this command";
inline constexpr char kRestartFailed[] = "ERR failed to restart the server. Check server logs.";

inline constexpr char kMaxClients[] = "ERR max number of clients reached";
inline constexpr char kProtectedMode[] =
    "DENIED Redis is running in protected mode because protected mode is enabled and no password is set for the "
    "default "
    "user. In this mode connections are only accepted from the loopback interface. If you want to connect from "
    "external "
    "computers to Redis you may adopt one of the following solutions: 1) Just disable protected mode sending the "
    "command "
    "'CONFIG SET protected-mode no' from the loopback interface by connecting to Redis from the same host the server "
    "is "
    "running, however MAKE SURE Redis is not publicly accessible from internet if you do so. Use CONFIG REWRITE to "
    "make "
    "this change permanent. 2) Alternatively you can just disable the protected mode by editing the Redis "
    "configuration "
    "file, and setting the protected mode option to 'no', and then restarting the server. 3) If you started the server "
    "manually just for testing, restart it with the '--protected-mode no' option. 4) Set up an authentication password "
    "for the default user. NOTE: You only need to do one of the above things in order for the server to start "
    "accepting "
    "connections from the outside.";

// How many bytes of a client's word an error repeats. Redis: the word is cut at the first NUL.
inline constexpr size_t kShownMax = 128;
inline Bytes ShownPart(Bytes word, size_t max = kShownMax) {
  Bytes part = word.substr(0, max);
  return part.substr(0, part.find('\0'));
}

inline Refusal InvalidExpire(Bytes command) {
  return {"ERR invalid expire time in '" + std::string(command) + "' command"};
}
inline Refusal NeedsInputKey(Bytes command) {
  return {"ERR at least 1 input key is needed for '" + std::string(command) + "' command"};
}
inline Refusal UnsupportedOption(Bytes option) { return {"ERR Unsupported option " + std::string(option)}; }
inline Refusal HelloOption(Bytes option) { return {"ERR Syntax error in HELLO option '" + std::string(option) + "'"}; }
inline Refusal ClientAttribute(Bytes attribute) {
  return {"ERR " + std::string(attribute) + " cannot contain spaces, newlines or special characters."};
}
inline Refusal UnrecognizedOption(Bytes option) { return {"ERR Unrecognized option '" + std::string(option) + "'"}; }
inline Refusal UnknownClientType(Bytes type) { return {"ERR Unknown client type '" + std::string(type) + "'"}; }
inline Refusal UnknownCategory(Bytes name) { return {"ERR Unknown category '" + std::string(name) + "'"}; }
inline Refusal UserNotFound(Bytes user) { return {"ERR User '" + std::string(user) + "' not found"}; }
inline Refusal CommandNotFound(Bytes name) { return {"ERR Command '" + std::string(name) + "' not found"}; }
inline Refusal BadAclRule(Bytes rule, Bytes reason) {
  return {"ERR Error in ACL SETUSER modifier '" + std::string(rule) + "': " + std::string(reason)};
}
inline Refusal UnmatchedSelector(Bytes begin) {
  return {"ERR Unmatched parenthesis in acl selector starting at '" + std::string(begin) + "'."};
}
inline Refusal NoSuchUser(Bytes user) { return {"ERR No such user '" + std::string(user) + "'"}; }
inline Refusal UnknownPfDebug(Bytes subcommand) {
  return {"ERR Unknown PFDEBUG subcommand '" + std::string(subcommand.substr(0, subcommand.find('\0'))) + "'"};
}
inline Refusal FailedSelfTest(const std::string& problem) { return {"ERR TESTFAILED " + problem}; }
inline Refusal UnknownLoadOption(Bytes option) { return {"ERR Unknown option given: " + std::string(option)}; }
inline Refusal UnknownArgument(Bytes argument) { return {"ERR Unknown argument " + std::string(argument)}; }
inline Refusal MigrateTarget(Bytes error) { return {"ERR Target instance replied with error: " + std::string(error)}; }
// CLIENT TRACKING: one prefix of a client begins with another. `which` names the other one: "an existing" or "another
// provided".
inline Refusal PrefixOverlap(Bytes prefix, Bytes which, Bytes other) {
  return {"ERR Prefix '" + std::string(prefix) + "' overlaps with " + std::string(which) + " prefix '" +
          std::string(other) + "'. Prefixes for a single client must not overlap."};
}
// EXEC itself was refused.
inline Refusal ExecAborted(Bytes reason) {
  if (reason.starts_with("ERR ")) reason.remove_prefix(4);
  return {"EXECABORT Transaction discarded because of: " + std::string(reason)};
}
inline Refusal WrongArity(Bytes command) {
  return {"ERR wrong number of arguments for '" + std::string(command) + "' command"};
}
// For containers whose subcommand checks the number of its arguments itself.
inline Refusal SubcommandSyntax(Bytes container, Bytes subcommand) {
  return {"ERR unknown subcommand or wrong number of arguments for '" + std::string(ShownPart(subcommand)) + "'. Try " +
          ToUpper(container) + " HELP."};
}
inline Refusal NoLatencySamples(Bytes event) {
  return {"ERR No samples available for event '" + std::string(event) + "'"};
}
inline Refusal ReplconfOption(Bytes option) { return {"ERR Unrecognized REPLCONF option: " + std::string(option)}; }
inline Refusal ReplconfFilter(Bytes filter) {
  return {"ERR Unsupported rdb-filter-only option: " + std::string(filter)};
}
inline Refusal ReplconfAddress(Bytes address) {
  return {"ERR REPLCONF ip-address provided by replica instance is too long: " + std::to_string(address.size()) +
          " bytes"};
}
inline Refusal UnknownSubcommand(Bytes container, Bytes subcommand) {
  return {"ERR unknown subcommand '" + std::string(ShownPart(subcommand)) + "'. Try " + ToUpper(container) + " HELP."};
}

inline Refusal NotForDenyBlocking(Bytes command) {
  return {"ERR " + std::string(command) + " isn't allowed for a DENY BLOCKING client"};
}
inline Refusal InSubscribedMode(Bytes command) {
  return {"ERR Can't execute '" + std::string(command) +
          "': only (P|S)SUBSCRIBE / (P|S)UNSUBSCRIBE / PING / QUIT / RESET are allowed in this context"};
}
// Shows the first of the words behind the name, too.
inline Refusal UnknownCommand(std::span<const Bytes> words) {
  std::string shown;
  for (Bytes word : words.subspan(1)) {
    if (shown.size() >= kShownMax) break;
    shown += "'" + std::string(ShownPart(word, kShownMax - shown.size())) + "' ";
  }
  return {"ERR unknown command '" + std::string(ShownPart(words[0])) + "', with args beginning with: " + shown};
}
inline Refusal ConfigSet(Bytes name, Bytes reason) {
  return {"ERR CONFIG SET failed (possibly related to argument '" + std::string(name) + "') - " + std::string(reason)};
}
inline Refusal ConfigSetOption(Bytes name) {
  return {"ERR Unknown option or number of arguments for CONFIG SET - '" + std::string(name) + "'"};
}
inline Refusal ConfigRewrite(Bytes reason) { return {"ERR Rewriting config file: " + std::string(reason)}; }
inline Refusal GeoCoordinates(double longitude, double latitude) {
  return {"ERR invalid longitude,latitude pair " + FixedText(longitude, 6) + "," + FixedText(latitude, 6)};
}
// `choice` is for example "FROMMEMBER or FROMLONLAT"; `command` is the name as the client wrote it.
inline Refusal GeoExactlyOne(Bytes choice, Bytes command) {
  return {"ERR exactly one of " + std::string(choice) + " can be specified for " + std::string(command)};
}
// `name` is the name as the script wrote it.
inline Refusal BlockInScript(Bytes name) {
  return {"ERR " + std::string(name) + " command is not allowed with BLOCK option from scripts"};
}
// `given` is ">" or "$", the ID that the command accepts in place of an explicit one.
inline Refusal StreamsUnbalanced(Bytes command, Bytes given) {
  return {"ERR Unbalanced '" + std::string(command) + "' list of streams: for each stream key an ID or '" +
          std::string(given) + "' must be specified."};
}
// Redis: these errors cut names at the first NUL.
inline std::string ShownName(Bytes name) { return std::string(name.substr(0, name.find('\0'))); }
inline Refusal NoSuchKeyOrGroup(Bytes key, Bytes group) {
  return {"NOGROUP No such key '" + ShownName(key) + "' or consumer group '" + ShownName(group) + "'"};
}
inline Refusal NoSuchGroupToRead(Bytes key, Bytes group) {
  return {NoSuchKeyOrGroup(key, group).text + " in XREADGROUP with GROUP option"};
}
inline Refusal NoSuchGroup(Bytes group, Bytes key) {
  return {"NOGROUP No such consumer group '" + ShownName(group) + "' for key name '" + ShownName(key) + "'"};
}
inline Refusal UnrecognizedXClaimOption(Bytes option) {
  return {"ERR Unrecognized XCLAIM option '" + ShownName(option) + "'"};
}
// `error` comes from RequestParser::Error.
inline Refusal Protocol(Bytes error) { return {"ERR " + std::string(error)}; }

}  // namespace respite::refusals
