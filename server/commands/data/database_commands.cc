#include <array>
#include <numeric>

#include "base/memory.h"
#include "datatypes/keyspace.h"
#include "server/catalogue/refusals.h"
#include "server/commands/common_arguments.h"
#include "server/commands/delete_key.h"
#include "server/commands/families.h"
#include "server/dataset/data_subsystem.h"
#include "server/dataset/lazy_free.h"
#include "server/execution/call.h"
#include "server/execution/services.h"
#include "server/storage/snapshots.h"
#include "server/storage/storage_subsystem.h"

namespace respite {

namespace refusals {
namespace {

constexpr char kInvalidFirstDb[] = "ERR invalid first DB index";
constexpr char kInvalidSecondDb[] = "ERR invalid second DB index";

}  // namespace
}  // namespace refusals

namespace {

struct DbSize {
  static constexpr CommandSpec spec = {.syntax = "DBSIZE",
                                       .summary = "Counts the keys of the database.",
                                       .since = "1.0.0",
                                       .complexity = "O(1)",
                                       .group = CommandGroup::kServer,
                                       .flags = kReadOnly | kFast,
                                       .categories = kAclKeyspace,
                                       .tips = "request_policy:all_shards response_policy:agg_sum"};
  static void Run(Call& call) {
    call.reply.Integer(static_cast<int64_t>(call.services.data.dataset.keyspace.VisibleKeyCount(call.db.Index())));
  }
};

void Flush(Call& call, std::span<const int> dbs, FreeMode mode) {
  for (Database& content : call.db.Flush(dbs)) call.services.data.lazy_free.Free(std::move(content), mode);
  // A synchronous FLUSHDB or FLUSHALL also returns the freed memory to the system before it ends.
  if (mode == FreeMode::kNow) PurgeAllocator();
}

struct FlushDb {
  static constexpr CommandSpec spec = {.syntax = "FLUSHDB [flush-type(ASYNC@4.0.0|SYNC@6.2.0)]",
                                       .summary = "Deletes every key of the database.",
                                       .since = "1.0.0",
                                       .complexity = "O(N), N being the number of keys",
                                       .group = CommandGroup::kServer,
                                       .flags = kWrite,
                                       .categories = kAclKeyspace | kAclDangerous,
                                       .tips = "request_policy:all_shards response_policy:all_succeeded"};
  static void Run(Call& call) {
    const FreeMode mode = TakeFlushMode(call, refusals::kSyntax);
    Flush(call, std::array{call.db.Index()}, mode);
    call.reply.Ok();
  }
};

struct FlushAll {
  static constexpr CommandSpec spec = {.syntax = "FLUSHALL [flush-type(ASYNC@4.0.0|SYNC@6.2.0)]",
                                       .summary = "Deletes every key of every database.",
                                       .since = "1.0.0",
                                       .complexity = "O(N), N being the number of keys",
                                       .group = CommandGroup::kServer,
                                       .flags = kWrite,
                                       .categories = kAclKeyspace | kAclDangerous,
                                       .tips = "request_policy:all_shards response_policy:all_succeeded",
                                       .uses_all_databases = true};
  static void Run(Call& call) {
    const FreeMode mode = TakeFlushMode(call, refusals::kSyntax);
    std::vector<int> all(static_cast<size_t>(call.services.data.dataset.keyspace.Count()));
    std::iota(all.begin(), all.end(), 0);
    Flush(call, all, mode);
    call.services.storage.snapshots.HandleFlushAll();
    call.reply.Ok();
  }
};

struct SwapDb {
  static constexpr CommandSpec spec = {
      .syntax = "SWAPDB index1:integer index2:integer",
      .summary = "Swaps two databases.",
      .since = "4.0.0",
      .complexity = "O(N), N being the number of clients that watch or wait for keys in them",
      .group = CommandGroup::kServer,
      .flags = kWrite | kFast,
      .categories = kAclKeyspace | kAclDangerous,
      .database_words = [](std::span<const Bytes>) {
        return std::vector<size_t>{1, 2};
      }};
  static void Run(Call& call) {
    if (call.services.env.settings.cluster_enabled) throw refusals::NotInCluster("SWAPDB");
    auto [first, second] = call.args.Take<Bytes, Bytes>();
    const int one = ParseDbNumber(first, refusals::kInvalidFirstDb, refusals::kInvalidFirstDb);
    const int other = ParseDbNumber(second, refusals::kInvalidSecondDb, refusals::kInvalidSecondDb);
    RequireDb(call, one);
    RequireDb(call, other);
    call.db.SwapDatabases(one, other);
    call.reply.Ok();
  }
};

constexpr auto kDatabaseCommands = Family<DbSize, FlushAll, FlushDb, SwapDb>();

}  // namespace

std::span<const CommandCard> DatabaseCommands() { return kDatabaseCommands; }

}  // namespace respite
