// The tables of the dialects: defaults of directives, and what each version says about its commands where that differs
// from the CommandSpecs. Only dialects.cc includes this file.
#pragma once

#include <array>
#include <string_view>

#include "server/catalogue/command_spec.h"
#include "server/catalogue/dialect.h"

namespace respite {

// --- Defaults of directives.

inline constexpr auto kDefaultsOfRedis62 = std::to_array<DirectiveDefault>({
    {"acl-pubsub-default", "allchannels"},
    {"enable-debug-command", "yes"},
    {"enable-module-command", "yes"},
    {"repl-diskless-sync", "no"},
});
inline constexpr auto kDefaultsOfRedis80 = std::to_array<DirectiveDefault>({
    {"repl-rdb-channel", "yes"},
});
inline constexpr auto kDefaultsOfValkey80 = std::to_array<DirectiveDefault>({
    {"hide-user-data-from-log", "yes"},
    {"io-threads-do-reads", "yes"},
    {"lazyfree-lazy-eviction", "yes"},
    {"lazyfree-lazy-expire", "yes"},
    {"lazyfree-lazy-server-del", "yes"},
    {"lazyfree-lazy-user-del", "yes"},
    {"lazyfree-lazy-user-flush", "yes"},
    {"repl-backlog-size", "10485760"},
    {"replica-lazy-flush", "yes"},
    {"syslog-ident", "valkey"},
});

// --- Flags of commands.

inline constexpr auto kFlagsOfRedis62 = std::to_array<FlagChange>({
    {"acl", kAdmin | kNoScript | kLoading | kStale},
    {"blmove", kNoScript},
    {"blpop", kNoScript},
    {"brpop", kNoScript},
    {"brpoplpush", kNoScript},
    {"bzpopmax", kNoScript},
    {"bzpopmin", kNoScript},
    {"client", kAdmin | kNoScript | kRandom | kLoading | kStale},
    {"cluster", kAdmin | kRandom | kStale},
    {"cluster|shards", 0, kLoading},
    {"cluster|slots", 0, kLoading},
    {"command", kRandom},
    {"config", kAdmin | kNoScript | kLoading | kStale},
    {"dump", kRandom},
    {"echo", 0, kLoading | kStale},
    {"eval", 0, kStale},
    {"evalsha", 0, kStale},
    {"hgetall", kRandom},
    {"hkeys", kSortForScript},
    {"hrandfield", kRandom},
    {"hscan", kRandom},
    {"hvals", kSortForScript},
    {"info", kRandom},
    {"keys", kSortForScript},
    {"lastsave", kRandom},
    {"latency", kAdmin | kNoScript | kLoading | kStale},
    {"memory", kReadOnly | kRandom},
    {"migrate", kRandom},
    {"module", kAdmin | kNoScript},
    {"object", kReadOnly | kRandom},
    {"ping", kStale},
    {"pttl", kRandom},
    {"pubsub", kPubSub | kRandom | kLoading | kStale},
    {"randomkey", kRandom},
    {"readonly", 0, kLoading | kStale},
    {"readwrite", 0, kLoading | kStale},
    {"reset", 0, kNoAuth},
    {"scan", kRandom},
    {"script", kNoScript | kMayReplicate},
    {"sdiff", kSortForScript},
    {"sinter", kSortForScript},
    {"slowlog", kAdmin | kRandom | kLoading | kStale},
    {"smembers", kSortForScript},
    {"spop", kRandom},
    {"srandmember", kRandom},
    {"sscan", kRandom},
    {"sunion", kSortForScript},
    {"time", kRandom},
    {"ttl", kRandom},
    {"wait", kNoScript},
    {"xack", kRandom},
    {"xadd", kRandom},
    {"xautoclaim", kRandom},
    {"xclaim", kRandom},
    {"xgroup", kWrite | kDenyOom},
    {"xinfo", kReadOnly | kRandom},
    {"xpending", kRandom},
    {"xtrim", kRandom},
    {"zrandmember", kRandom},
    {"zscan", kRandom},
});
inline constexpr auto kFlagsOfRedis70 = std::to_array<FlagChange>({
    {"blmove", kNoScript},
    {"blpop", kNoScript},
    {"brpop", kNoScript},
    {"brpoplpush", kNoScript},
    {"bzpopmax", kNoScript},
    {"bzpopmin", kNoScript},
    {"cluster|shards", 0, kLoading},
    {"cluster|slots", 0, kLoading},
    {"wait", kNoScript},
});
inline constexpr auto kFlagsOfRedis74 = std::to_array<FlagChange>({
    {"wait", kBlocking},
    {"waitaof", kBlocking, kNoScript},
});
inline constexpr auto kFlagsOfRedis80 = std::to_array<FlagChange>({
    {"hexpire", 0, kDenyOom},
    {"hexpireat", 0, kDenyOom},
    {"hpexpire", 0, kDenyOom},
    {"hpexpireat", 0, kDenyOom},
    {"wait", kBlocking},
    {"waitaof", kBlocking, kNoScript},
});
inline constexpr auto kFlagsOfValkey80 = std::to_array<FlagChange>({
    {"cluster|info", kLoading},
    {"cluster|myid", kLoading},
    {"cluster|myshardid", kLoading},
    {"cluster|nodes", kLoading},
    {"multi", kNoMulti},
    {"wait", kBlocking},
    {"waitaof", kBlocking, kNoScript},
    {"watch", kNoMulti},
});
inline constexpr auto kFlagsOfValkey81 = std::to_array<FlagChange>({
    {"cluster|info", kLoading},
    {"cluster|myid", kLoading},
    {"cluster|myshardid", kLoading},
    {"cluster|nodes", kLoading},
    {"memory|malloc-stats", kLoading},
    {"memory|purge", kLoading},
    {"multi", kNoMulti},
    {"wait", kBlocking},
    {"waitaof", kBlocking, kNoScript},
    {"watch", kNoMulti},
});

inline constexpr auto kFlagsOfRedis86 = std::to_array<FlagChange>({
    {"cluster|syncslots", kNoAsyncLoading, 0, kNoScript | kNoMulti},
    {"hexpire", 0, kDenyOom},
    {"hexpireat", 0, kDenyOom},
    {"hpexpire", 0, kDenyOom},
    {"hpexpireat", 0, kDenyOom},
    {"psubscribe", kDenyOom},
    {"ssubscribe", kDenyOom},
    {"subscribe", kDenyOom},
    {"wait", kBlocking},
    {"waitaof", kBlocking, kNoScript},
});
inline constexpr auto kFlagsOfValkey90 = std::to_array<FlagChange>({
    {"client|caching", kAllowBusy},
    {"client|capa", kAllowBusy},
    {"client|getname", kAllowBusy},
    {"client|getredir", kAllowBusy},
    {"client|id", kAllowBusy},
    {"client|no-evict", kAllowBusy},
    {"client|no-touch", kAllowBusy},
    {"client|reply", kAllowBusy | kNoMulti},
    {"client|setinfo", kAllowBusy},
    {"client|setname", kAllowBusy},
    {"cluster|getslotmigrations", kNoAsyncLoading, kLoading},
    {"cluster|info", kLoading},
    {"cluster|myid", kLoading},
    {"cluster|myshardid", kLoading},
    {"cluster|nodes", kLoading},
    {"cluster|syncslots", kNoAsyncLoading, 0, kNoScript | kNoMulti},
    {"hexpire", 0, kDenyOom},
    {"hexpireat", 0, kDenyOom},
    {"hpexpire", 0, kDenyOom},
    {"hpexpireat", 0, kDenyOom},
    {"memory|malloc-stats", kLoading},
    {"memory|purge", kLoading},
    {"multi", kNoMulti},
    {"script|exists", kStale},
    {"script|flush", kStale},
    {"script|show", kStale},
    {"select", kAllowBusy},
    {"wait", kBlocking},
    {"waitaof", kBlocking, kNoScript},
    {"watch", kNoMulti},
});

// --- Deprecations.

// The commands that Redis and Valkey before 9.0 call deprecated, but Valkey since 9.0 does not.
inline constexpr std::string_view kRevivedInValkey90[] = {
    "brpoplpush",
    "georadius",
    "georadius_ro",
    "georadiusbymember",
    "georadiusbymember_ro",
    "getset",
    "hmset",
    "psetex",
    "quit",
    "rpoplpush",
    "setex",
    "setnx",
    "slowlog",
    "slowlog|get",
    "slowlog|help",
    "slowlog|len",
    "slowlog|reset",
    "substr",
    "zrangebylex",
    "zrangebyscore",
    "zrevrange",
    "zrevrangebylex",
    "zrevrangebyscore",
    "cluster|slots",
};

// The commands that Redis 7.2 calls deprecated, but Redis 7.0 does not.
inline constexpr std::string_view kRevivedInRedis70[] = {"psetex", "setex", "setnx"};
// JSON.RESP is deprecated by its documentation only.
inline constexpr std::string_view kRevivedInRedis80[] = {"json.resp"};
// The commands that Redis 7.2 calls deprecated, but Valkey since 8.0 does not.
inline constexpr std::string_view kRevivedInValkey80[] = {"cluster|slots"};

// --- Key specs.

inline constexpr auto kKeyFlagsOfRedis74 = std::to_array<KeyFlagChange>({
    {"sinterstore", 0, kKeyOW, kKeyRW},
});
inline constexpr auto kKeyFlagsOfRedis80 = std::to_array<KeyFlagChange>({
    {"georadius", 1, kKeyIncomplete},
    {"georadius", 2, kKeyIncomplete},
    {"georadiusbymember", 1, kKeyIncomplete},
    {"georadiusbymember", 2, kKeyIncomplete},
    {"sinterstore", 0, kKeyOW, kKeyRW},
    {"xread", 0, kKeyIncomplete},
    {"xreadgroup", 0, kKeyIncomplete},
});
inline constexpr auto kKeyFlagsOfValkey91 = std::to_array<KeyFlagChange>({
    {"georadius", 1, kKeyVariableFlags},
    {"georadius", 2, kKeyVariableFlags},
    {"georadiusbymember", 1, kKeyVariableFlags},
    {"georadiusbymember", 2, kKeyVariableFlags},
    {"hsetex", 0, kKeyInsert, kKeyUpdate},
    {"sinterstore", 0, kKeyOW, kKeyRW},
});

// --- Tokens.

inline constexpr auto kTokensOfRedis70 = std::to_array<TokenChange>({
    {"bitop", "AND"},
    {"bitop", "NOT"},
    {"bitop", "OR"},
    {"bitop", "XOR"},
    {"client|kill", "NO"},
    {"client|kill", "YES"},
});
inline constexpr auto kTokensOfValkey81 = std::to_array<TokenChange>({
    {"commandlog|get", "LARGE-REPLY"},
    {"commandlog|get", "LARGE-REQUEST"},
    {"commandlog|get", "SLOW"},
    {"commandlog|len", "LARGE-REPLY"},
    {"commandlog|len", "LARGE-REQUEST"},
    {"commandlog|len", "SLOW"},
    {"commandlog|reset", "LARGE-REPLY"},
    {"commandlog|reset", "LARGE-REQUEST"},
    {"commandlog|reset", "SLOW"},
    {"set", "NX", "2.6.12"},
    {"set", "XX", "2.6.12"},
});
inline constexpr auto kTokensOfValkey90 = std::to_array<TokenChange>({
    {"set", "NX", "2.6.12"},
    {"set", "XX", "2.6.12"},
});

// --- Tips and versions.

inline constexpr auto kTipsOfRedis70 = std::to_array<TextChange>({
    {"acl|deluser", ""},
    {"acl|save", ""},
    {"acl|setuser", ""},
    {"client|setname", ""},
    {"config|resetstat", ""},
    {"config|rewrite", ""},
    {"latency|reset", "request_policy:all_nodes response_policy:all_succeeded"},
    {"msetnx", "request_policy:multi_shard response_policy:agg_min"},
    {"randomkey", "request_policy:all_shards nondeterministic_output"},
    {"scan", "nondeterministic_output request_policy:special"},
});
inline constexpr auto kSinceOfRedis70 = std::to_array<TextChange>({
    {"client|pause", "2.9.50"},
});
// The versions of RedisJSON, before it was part of Redis.
inline constexpr auto kSinceOfRedis80 = std::to_array<TextChange>({
    {"json.arrappend", "1.0.0"},  {"json.arrindex", "1.0.0"},     {"json.arrinsert", "1.0.0"}, {"json.arrlen", "1.0.0"},
    {"json.arrpop", "1.0.0"},     {"json.arrtrim", "1.0.0"},      {"json.clear", "2.0.0"},     {"json.debug", "1.0.0"},
    {"json.debug|help", "1.0.0"}, {"json.debug|memory", "1.0.0"}, {"json.del", "1.0.0"},       {"json.forget", "1.0.0"},
    {"json.get", "1.0.0"},        {"json.merge", "2.6.0"},        {"json.mget", "1.0.0"},      {"json.mset", "2.6.0"},
    {"json.numincrby", "1.0.0"},  {"json.nummultby", "1.0.0"},    {"json.objkeys", "1.0.0"},   {"json.objlen", "1.0.0"},
    {"json.resp", "1.0.0"},       {"json.set", "1.0.0"},          {"json.strappend", "1.0.0"}, {"json.strlen", "1.0.0"},
    {"json.toggle", "2.0.0"},     {"json.type", "1.0.0"},
});
inline constexpr auto kTipsOfRedis74 = std::to_array<TextChange>({
    {"hpttl", ""},
    {"httl", ""},
});
inline constexpr auto kTipsOfRedis86 = std::to_array<TextChange>({
    {"cluster|syncslots", "nondeterministic_output"},
});
inline constexpr auto kTipsOfValkey90 = std::to_array<TextChange>({
    {"cluster|getslotmigrations", ""},
    {"hpttl", ""},
    {"httl", ""},
});
inline constexpr std::string_view kSystemCommandsOfValkey90[] = {"cluster|syncslots"};

// --- Redis 6.2 knows no subcommands: containers have categories and keys.

inline constexpr auto kCategoriesOfRedis62 = std::to_array<CategoryChange>({
    {"asking", kAclKeyspace},
    {"client", kAclConnection},
    {"object", kAclKeyspace},
    {"readonly", kAclKeyspace},
    {"readwrite", kAclKeyspace},
    {"role", kAclDangerous},
    {"script", kAclScripting},
    {"select", kAclKeyspace},
    {"wait", kAclKeyspace},
    {"xgroup", kAclStream},
    {"xinfo", kAclStream},
});
inline constexpr auto kLegacyKeysOfRedis62 = std::to_array<LegacyKeysChange>({
    {"object", 2, 2, 1},
    {"xgroup", 2, 2, 1},
    {"xinfo", 2, 2, 1},
});

// --- All changes of one version.

inline constexpr CommandChanges kCommandsOfRedis62 = {
    .flags = kFlagsOfRedis62, .categories = kCategoriesOfRedis62, .legacy_keys = kLegacyKeysOfRedis62};
inline constexpr CommandChanges kCommandsOfRedis70 = {.flags = kFlagsOfRedis70,
                                                      .revived = kRevivedInRedis70,
                                                      .tokens = kTokensOfRedis70,
                                                      .tips = kTipsOfRedis70,
                                                      .since = kSinceOfRedis70};
inline constexpr CommandChanges kCommandsOfRedis74 = {
    .flags = kFlagsOfRedis74, .key_flags = kKeyFlagsOfRedis74, .tips = kTipsOfRedis74};
inline constexpr CommandChanges kCommandsOfRedis80 = {
    .flags = kFlagsOfRedis80, .revived = kRevivedInRedis80, .key_flags = kKeyFlagsOfRedis80, .since = kSinceOfRedis80};
inline constexpr CommandChanges kCommandsOfRedis82 = {
    .flags = kFlagsOfRedis80, .revived = kRevivedInRedis80, .key_flags = kKeyFlagsOfRedis74, .since = kSinceOfRedis80};
inline constexpr CommandChanges kCommandsOfRedis86 = {.flags = kFlagsOfRedis86,
                                                      .revived = kRevivedInRedis80,
                                                      .key_flags = kKeyFlagsOfRedis74,
                                                      .tips = kTipsOfRedis86,
                                                      .since = kSinceOfRedis80};
inline constexpr CommandChanges kCommandsOfValkey80 = {
    .flags = kFlagsOfValkey80, .revived = kRevivedInValkey80, .key_flags = kKeyFlagsOfRedis74};
inline constexpr CommandChanges kCommandsOfValkey81 = {.flags = kFlagsOfValkey81,
                                                       .revived = kRevivedInValkey80,
                                                       .key_flags = kKeyFlagsOfRedis74,
                                                       .tokens = kTokensOfValkey81};
inline constexpr CommandChanges kCommandsOfValkey90 = {.flags = kFlagsOfValkey90,
                                                       .revived = kRevivedInValkey90,
                                                       .key_flags = kKeyFlagsOfRedis74,
                                                       .tokens = kTokensOfValkey90,
                                                       .tips = kTipsOfValkey90,
                                                       .system = kSystemCommandsOfValkey90};
inline constexpr CommandChanges kCommandsOfValkey91 = {.flags = kFlagsOfValkey90,
                                                       .revived = kRevivedInValkey90,
                                                       .key_flags = kKeyFlagsOfValkey91,
                                                       .tokens = kTokensOfValkey90,
                                                       .tips = kTipsOfValkey90,
                                                       .system = kSystemCommandsOfValkey90};

}  // namespace respite
