// The changes that each command adds to rdb_changes_since_last_save, which `save` points use.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tests/support/command_test.h"

namespace respite {
namespace {

struct DirtyRow {
  std::vector<std::string> before;
  std::string line;
  uint64_t changes;  // as Redis 7.2.6 counts them
};

const std::vector<DirtyRow>& Rows() {
  static const std::vector<DirtyRow> rows = {
      {{"ZADD geo 1 x"}, "GEOADD geo 13 38 a 15 37 b", 2},
      {{"GEOADD geo 13 38 a"}, "GEOADD geo CH 14 38 a 13 38 b", 2},
      {{"GEOADD geo 13 38 a"}, "GEOADD geo 13 38 a", 0},
      {{}, "LPUSH l a b c", 3},
      {{}, "RPUSH l a b", 2},
      {{"RPUSH l a"}, "LPUSHX l b c", 2},
      {{"RPUSH l a"}, "RPUSHX l b c d", 3},
      {{}, "RPUSHX l a", 0},
      {{}, "ZADD z 1 a 2 b", 2},
      {{"ZADD z 1 a 2 b"}, "ZADD z 1 a 3 b 4 c", 2},
      {{"ZADD z 1 a"}, "ZADD z NX 2 a", 0},
      {{"ZADD z 1 a"}, "ZINCRBY z 0 a", 0},
      {{"ZADD z 1 a"}, "ZINCRBY z 2 a", 1},
      {{"RPUSH l a b"}, "RPOPLPUSH l m", 1},
      {{"RPUSH l a b"}, "RPOPLPUSH l l", 1},
      {{"RPUSH l a b"}, "LMOVE l m LEFT LEFT", 1},
      {{"RPUSH l a b"}, "LMOVE l l LEFT RIGHT", 1},
      {{"RPUSH l a b c d"}, "LTRIM l 1 2", 2},
      {{"RPUSH l a b c d"}, "LTRIM l 0 -1", 0},
      {{"RPUSH l a b"}, "LTRIM l 5 6", 2},
      {{"ZADD z 1 a 2 b 3 c"}, "ZREMRANGEBYRANK z 0 1", 2},
      {{"ZADD z 1 a 2 b 3 c"}, "ZREMRANGEBYSCORE z 1 3", 3},
      {{"ZADD z 0 a 0 b 0 c"}, "ZREMRANGEBYLEX z [a (c", 2},
      {{"ZADD z 1 a 2 b 3 c"}, "ZPOPMIN z", 1},
      {{"ZADD z 1 a 2 b 3 c"}, "ZPOPMIN z 2", 2},
      {{"ZADD z 1 a 2 b 3 c"}, "ZPOPMAX z 5", 3},
      {{"ZADD z 1 a 2 b 3 c"}, "ZMPOP 1 z MIN COUNT 2", 2},
      {{"RPUSH l a b c"}, "LPOP l", 1},
      {{"RPUSH l a b c"}, "LPOP l 2", 2},
      {{"RPUSH l a b c"}, "RPOP l 5", 3},
      {{"RPUSH l a b c"}, "RPOP l 0", 0},
      {{"RPUSH l a b c"}, "LMPOP 1 l LEFT COUNT 2", 2},
      {{"RPUSH l a b c"}, "LMPOP 1 l RIGHT", 1},
      {{"ZADD z 1 a 2 b 3 c"}, "ZREM z a b x", 2},
      {{"RPUSH l a b a"}, "LREM l 0 a", 2},
      {{"RPUSH l a"}, "LSET l 0 b", 1},
      {{"RPUSH l a"}, "LINSERT l BEFORE a b", 1},
      {{"RPUSH l a"}, "LINSERT l BEFORE x b", 0},
      {{}, "HSET h a 1 b 2 c 3", 3},
      {{"HSET h a 1 b 2"}, "HSET h a 1 b 3", 2},
      {{}, "HMSET h a 1 b 2", 2},
      {{"HSET h a 1"}, "HSETNX h a 2", 0},
      {{"HSET h a 1 b 2 c 3"}, "HDEL h a b x", 2},
      {{"HSET h a 1"}, "HINCRBY h a 0", 1},
      {{}, "SADD s a b c", 3},
      {{"SADD s a"}, "SADD s a b", 1},
      {{"SADD s a b c"}, "SREM s a b x", 2},
      {{"SADD s a b c"}, "SPOP s", 1},
      {{"SADD s a b c"}, "SPOP s 2", 2},
      {{"SADD s a b c"}, "SPOP s 5", 3},
      {{"SADD s a", "SADD t b"}, "SMOVE s t a", 2},
      {{"SADD s a", "SADD t a"}, "SMOVE s t a", 1},
      {{"SADD s a b"}, "SUNIONSTORE d s", 1},
      {{"SET d x"}, "SUNIONSTORE d s", 1},
      {{}, "SUNIONSTORE d s", 0},
      {{"ZADD z 1 a 2 b"}, "ZUNIONSTORE d 1 z", 1},
      {{"ZADD z 1 a 2 b"}, "ZRANGESTORE d z 0 -1", 1},
      {{"RPUSH l 3 1 2"}, "SORT l STORE d", 3},
      {{"SET d x"}, "SORT l STORE d", 1},
      {{}, "MSET a 1 b 2", 2},
      {{}, "MSETNX a 1 b 2", 2},
      {{"MSET a 1 b 2"}, "DEL a b c", 2},
      {{"MSET a 1 b 2"}, "UNLINK a b c", 2},
      {{"MSET a 1 b 2"}, "FLUSHALL", 2},
      {{"MSET a 1 b 2"}, "FLUSHDB", 2},
      {{"MSET a 1 b 2"}, "RENAME a b", 1},
      {{"SET a 1"}, "COPY a b", 1},
      {{"SET a 1"}, "MOVE a 1", 1},
      {{}, "SWAPDB 0 1", 1},
      {{"SET a 1"}, "EXPIRE a 10", 1},
      {{"SET a 1"}, "EXPIRE a -1", 1},
      {{"SET a 1 EX 10"}, "PERSIST a", 1},
      {{"SET a 1 EX 10"}, "GETEX a PERSIST", 1},
      {{"SET a 1"}, "GETDEL a", 1},
      {{"SET a 1"}, "SET a 1 EX 10", 1},
      {{}, "PFADD p a b", 3},
      {{}, "SETRANGE a 0 x", 1},
      {{"SET a x"}, "SETRANGE a 5 ''", 0},
      {{"SET s x"}, "BITOP NOT a s", 1},
      {{}, "BITFIELD a SET u8 0 1 SET u8 8 2", 2},
      {{}, "SETBIT a 0 0", 1},
      {{"SET a 1"}, "APPEND a ''", 1},
      {{}, "XADD s 1 f v", 1},
      {{"XADD s 1 f v", "XADD s 2 f v"}, "XADD s MAXLEN 1 3 f v", 1},
      {{"XADD s 1 f v", "XADD s 2 f v"}, "XTRIM s MAXLEN 0", 2},
      {{"XADD s 1 f v", "XADD s 2 f v"}, "XDEL s 1 2 3", 2},
      {{"XADD s 1 f v"}, "XSETID s 5", 1},
      {{}, "XGROUP CREATE s g $ MKSTREAM", 1},
      {{"XGROUP CREATE s g $ MKSTREAM"}, "XGROUP CREATECONSUMER s g c", 1},
      {{"XGROUP CREATE s g $ MKSTREAM"}, "XGROUP DELCONSUMER s g c", 0},
      {{"XGROUP CREATE s g $ MKSTREAM"}, "XGROUP DESTROY s g", 1},
      {{"XGROUP CREATE s g $ MKSTREAM", "XADD s 1 f v", "XADD s 2 f v"}, "XREADGROUP GROUP g c STREAMS s >", 2},
      {{"XGROUP CREATE s g $ MKSTREAM"}, "XREADGROUP GROUP g c STREAMS s >", 1},
      {{"XGROUP CREATE s g $ MKSTREAM", "XREADGROUP GROUP g c STREAMS s >"}, "XREADGROUP GROUP g c STREAMS s 0", 1},
      {{"XGROUP CREATE s g $ MKSTREAM", "XADD s 1 f v", "XREADGROUP GROUP g c STREAMS s >"}, "XACK s g 1 2", 1},
      {{"XGROUP CREATE s g $ MKSTREAM", "XADD s 1 f v", "XREADGROUP GROUP g c STREAMS s >"}, "XCLAIM s g d 0 1", 2},
      {{"XGROUP CREATE s g $ MKSTREAM", "XADD s 1 f v", "XREADGROUP GROUP g c STREAMS s >"}, "XAUTOCLAIM s g c 0 0", 1},
  };
  return rows;
}

TEST(DirtyTest, EachCommandCountsItsChangesAsRedisDoes) {
  for (const DirtyRow& row : Rows()) {
    TestServer server;
    TestClient client(server);
    for (const std::string& line : row.before) client.Run(line);
    const uint64_t before = server->services().data.dataset.stats.dirty;
    client.Run(row.line);
    EXPECT_EQ(server->services().data.dataset.stats.dirty - before, row.changes)
        << row.line << (row.before.empty() ? "" : " after ") << testing::PrintToString(row.before);
  }
}

}  // namespace
}  // namespace respite
