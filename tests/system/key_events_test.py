"""The keyspace events of each write command, in order, here and in each oracle.

Each line below runs on an empty data set after the commands to the right of `<-`; the events must be the same on both
servers, under `notify-keyspace-events AKEmn`. differential_test.py compares the events of random commands.

Keys that expire have 50 ms: Redis 7.0 reads the clock twice in PEXPIRE, and removes the key if the deadline passes in
between, as happened with 1 ms on a busy machine."""
import unittest

import oracles
from differential_test import Difference, Pair
from transcripts_test import words_of

# "commands <- commands that prepare the data"; commands are separated by ` ; `.
LINES = """
SET k v
SET k v <- SET k x
SET k v EX 100
SET k v PXAT 1
SET k v EX 100 NX <- SET k x
SET k v XX GET
SET k v GET
SET k v GET <- SET k x
SET k v KEEPTTL <- SET k x EX 100
SET k v <- LPUSH k a
SETEX k 100 v
PSETEX k 100000 v
SETNX k v
SETNX k v <- SET k x
GETSET k v
GETSET k v <- SET k x
MSET a 1 b 2 a 3
MSET a 1 b 2 <- SET a x
MSETNX a 1 b 2
MSETNX a 1 b 2 <- SET b x
GET k
GET k <- LPUSH k a
MGET a b c <- SET b x
GETDEL k
GETDEL k <- SET k x
GETEX k
GETEX k <- SET k x
GETEX k EX 100 <- SET k x
GETEX k PXAT 1 <- SET k x
GETEX k PERSIST <- SET k x
GETEX k PERSIST <- SET k x EX 100
APPEND k v
APPEND k "" <- SET k x
APPEND k v <- SET k x
SETRANGE k 3 x
SETRANGE k 3 "" <- SET k x
SETRANGE k 3 y <- SET k x
GETRANGE k 0 1
SUBSTR k 0 1
STRLEN k
INCR k
INCRBY k 3 <- SET k 3
INCRBY k x
DECR k
DECRBY k 3 <- SET k 3
INCRBYFLOAT k 1.5
INCRBYFLOAT k 1.5 <- SET k 3
LCS a b <- SET a x
SETBIT k 3 1
SETBIT k 3 0 <- SETBIT k 3 0
GETBIT k 3
BITCOUNT k
BITPOS k 1
BITFIELD k SET u8 0 5 GET u8 0 INCRBY u8 0 1
BITFIELD k GET u8 0
BITFIELD k SET u8 0 5 <- SET k xx
BITFIELD k OVERFLOW FAIL INCRBY u2 0 5
BITFIELD_RO k GET u8 0
BITOP AND d a b
BITOP AND d a b <- SET d x
BITOP OR d a b <- SET a x
BITOP NOT d a <- MSET a x d y
PFADD k
PFADD k a
PFADD k a <- PFADD k a
PFADD k b <- PFADD k a
PFCOUNT k
PFCOUNT k <- PFADD k a
PFMERGE d a
PFMERGE d a <- PFADD a x
PFMERGE d <- PFADD d x
LPUSH k a
RPUSH k a b <- RPUSH k x
LPUSHX k a
LPUSHX k a <- RPUSH k x
RPUSHX k a <- RPUSH k x
LPOP k
LPOP k <- RPUSH k a b
LPOP k <- RPUSH k a
LPOP k 0 <- RPUSH k a
LPOP k 5 <- RPUSH k a b
RPOP k <- RPUSH k a b
RPOP k 2 <- RPUSH k a b c
LMPOP 2 a b LEFT
LMPOP 2 a b LEFT <- RPUSH b x
LMPOP 2 a b RIGHT COUNT 2 <- RPUSH b x y z
LINSERT k BEFORE a b
LINSERT k BEFORE a b <- RPUSH k a
LINSERT k BEFORE z b <- RPUSH k a
LSET k 0 b <- RPUSH k a
LSET k 0 b
LREM k 0 a
LREM k 0 a <- RPUSH k a b a
LREM k 0 a <- RPUSH k a a
LREM k 0 z <- RPUSH k a a
LTRIM k 0 0 <- RPUSH k a b
LTRIM k 1 0 <- RPUSH k a b
LTRIM k 0 -1 <- RPUSH k a b
LTRIM k 0 -1
LMOVE a b LEFT RIGHT
LMOVE a b LEFT RIGHT <- RPUSH a x
LMOVE a b RIGHT LEFT <- RPUSH a x y
LMOVE a b RIGHT LEFT <- RPUSH a x ; RPUSH b y
LMOVE a a LEFT RIGHT <- RPUSH a x y
LMOVE a a LEFT RIGHT <- RPUSH a x
LMOVE a b LEFT RIGHT <- RPUSH a x ; SET b y
RPOPLPUSH a b <- RPUSH a x
RPOPLPUSH a a <- RPUSH a x y
BLPOP a b 1 <- RPUSH b x
BRPOP a b 1 <- RPUSH b x y
BLMOVE a b LEFT LEFT 1 <- RPUSH a x
BRPOPLPUSH a b 1 <- RPUSH a x
BLMPOP 1 2 a b LEFT COUNT 3 <- RPUSH b x y
LRANGE k 0 -1
LINDEX k 0
LLEN k
LPOS k a
SADD k a
SADD k a <- SADD k a
SADD k a b c <- SADD k a
SREM k a
SREM k a <- SADD k a b
SREM k a b <- SADD k a b
SREM k z <- SADD k a b
SPOP k
SPOP k <- SADD k a b
SPOP k <- SADD k a
SPOP k 0 <- SADD k a
SPOP k 2 <- SADD k a b c
SPOP k 2 <- SADD k a b
SPOP k 5 <- SADD k a b
SPOP k 7 <- SADD k a b c d e f g h i
SMOVE a b x
SMOVE a b x <- SADD a x
SMOVE a b x <- SADD a x y
SMOVE a b x <- SADD a x y ; SADD b x
SMOVE a b x <- SADD a x y ; SADD b z
SMOVE a b z <- SADD a x y
SMOVE a a x <- SADD a x
SINTERSTORE d a b
SINTERSTORE d a b <- SET d x
SINTERSTORE d a b <- SADD a x ; SADD b x
SINTERSTORE d a b <- SADD a x ; SADD b y ; SET d x
SINTERSTORE d a <- SADD a x ; SET d x
SUNIONSTORE d a b <- SADD a x
SUNIONSTORE d a b <- SADD d x
SDIFFSTORE d a b <- SADD a x ; SADD b x ; SADD d x
SDIFFSTORE d a b <- SADD a x
SDIFFSTORE a a <- SADD a x
SMEMBERS k
SINTER a b
SINTER a b <- SADD a x
SUNION a b
SDIFF a b
SINTERCARD 2 a b
SISMEMBER k a
SMISMEMBER k a
SCARD k
SRANDMEMBER k
SRANDMEMBER k 3
HSET h f v
HSET h f v g w <- HSET h f x
HSET h f v <- HSET h f v
HMSET h f v
HSETNX h f v
HSETNX h f v <- HSET h f x
HINCRBY h f 1
HINCRBY h f 1 <- HSET h f 1
HINCRBYFLOAT h f 1.5
HDEL h f
HDEL h f <- HSET h f v
HDEL h f g x <- HSET h f v g w
HDEL h f <- HSET h f v g w
HDEL h z <- HSET h f v g w
HGET h f
HGET h z <- HSET h f v
HMGET h f
HGETALL h
HKEYS h
HVALS h
HLEN h
HSTRLEN h f
HEXISTS h f
HRANDFIELD h
ZADD z 1 a
ZADD z 1 a <- ZADD z 1 a
ZADD z 2 a <- ZADD z 1 a
ZADD z NX 2 a <- ZADD z 1 a
ZADD z XX 2 a
ZADD z XX 2 b <- ZADD z 1 a
ZADD z XX CH 2 a <- ZADD z 1 a
ZADD z GT 0 a <- ZADD z 1 a
ZADD z INCR 2 a
ZADD z INCR 2 a <- ZADD z 1 a
ZADD z NX INCR 2 a <- ZADD z 1 a
ZADD z INCR 0 a <- ZADD z 1 a
ZINCRBY z 2 a
ZINCRBY z 0 a <- ZADD z 1 a
ZREM z a
ZREM z a <- ZADD z 1 a
ZREM z a q <- ZADD z 1 a 2 b
ZREM z q <- ZADD z 1 a 2 b
ZPOPMIN z
ZPOPMIN z <- ZADD z 1 a 2 b
ZPOPMIN z 5 <- ZADD z 1 a 2 b
ZPOPMIN z 0 <- ZADD z 1 a 2 b
ZPOPMAX z 2 <- ZADD z 1 a 2 b 3 c
ZMPOP 2 y z MIN
ZMPOP 2 y z MIN <- ZADD z 1 a
ZMPOP 2 y z MAX COUNT 2 <- ZADD z 1 a 2 b 3 c
BZPOPMIN y z 1 <- ZADD z 1 a
BZPOPMAX y z 1 <- ZADD z 1 a 2 b
BZMPOP 1 2 y z MIN COUNT 2 <- ZADD z 1 a 2 b
ZREMRANGEBYRANK z 0 0 <- ZADD z 1 a 2 b
ZREMRANGEBYRANK z 0 -1 <- ZADD z 1 a 2 b
ZREMRANGEBYRANK z 5 6 <- ZADD z 1 a 2 b
ZREMRANGEBYSCORE z 1 1 <- ZADD z 1 a 2 b
ZREMRANGEBYSCORE z -inf +inf <- ZADD z 1 a 2 b
ZREMRANGEBYLEX z - + <- ZADD z 0 a 0 b
ZREMRANGEBYLEX z - [a <- ZADD z 0 a 0 b
ZREMRANGEBYLEX z - +
ZRANGESTORE d z 0 -1
ZRANGESTORE d z 0 -1 <- ZADD z 1 a
ZRANGESTORE d z 0 -1 <- ZADD z 1 a ; SET d x
ZRANGESTORE d z 5 6 <- ZADD z 1 a ; SET d x
ZUNIONSTORE d 2 y z
ZUNIONSTORE d 2 y z <- ZADD d 1 a
ZUNIONSTORE d 2 y z <- ZADD z 1 a
ZINTERSTORE d 2 y z <- ZADD z 1 a ; SET d x
ZINTERSTORE d 2 y z <- ZADD z 1 a ; ZADD y 1 a
ZDIFFSTORE d 2 y z <- ZADD z 1 a ; ZADD y 1 a ; SET d x
ZDIFFSTORE d 2 y z <- ZADD y 1 a
ZUNION 2 y z
ZINTER 2 y z
ZDIFF 2 y z
ZINTERCARD 2 y z
ZRANGE z 0 -1
ZSCORE z a
ZMSCORE z a
ZRANK z a
ZCARD z
ZCOUNT z 0 1
ZRANDMEMBER z
ZRANGEBYSCORE z 0 1
GEOADD g 13 38 a
GEOADD g 13 38 a <- GEOADD g 13 38 a
GEOADD g 14 38 a <- GEOADD g 13 38 a
GEOADD g XX 14 38 b
GEOSEARCHSTORE d g FROMLONLAT 13 38 BYRADIUS 10 km
GEOSEARCHSTORE d g FROMLONLAT 13 38 BYRADIUS 10 km <- GEOADD g 13 38 a
GEOSEARCHSTORE d g FROMLONLAT 13 38 BYRADIUS 10 km <- GEOADD g 13 38 a ; SET d x
GEOSEARCHSTORE d g FROMLONLAT 53 38 BYRADIUS 10 km <- GEOADD g 13 38 a ; SET d x
GEORADIUS g 13 38 10 km STORE d <- GEOADD g 13 38 a
GEORADIUS g 53 38 10 km STOREDIST d <- GEOADD g 13 38 a ; SET d x
GEORADIUSBYMEMBER g a 10 km STORE d <- GEOADD g 13 38 a
GEORADIUSBYMEMBER g a 10 km STORE d <- SET d x
GEOPOS g a
GEODIST g a b
GEOHASH g a
GEOSEARCH g FROMLONLAT 13 38 BYRADIUS 10 km
DEL k
DEL k <- SET k x
DEL a b c <- MSET a x c y
UNLINK a b c <- MSET a x c y
EXPIRE k 100
EXPIRE k 100 <- SET k x
EXPIRE k -1 <- SET k x
EXPIRE k 100 XX <- SET k x
EXPIRE k 100 NX <- SET k x
PEXPIRE k 100000 GT <- SET k x EX 10
PEXPIREAT k 1 <- SET k x
EXPIREAT k 1
PERSIST k
PERSIST k <- SET k x
PERSIST k <- SET k x EX 100
RENAME a b
RENAME a b <- SET a x
RENAME a b <- SET a x ; SET b y
RENAME a a <- SET a x
RENAMENX a b <- SET a x
RENAMENX a b <- SET a x ; SET b y
MOVE k 1
MOVE k 1 <- SET k x
MOVE k 1 <- SET k x ; SELECT 1 ; SET k y ; SELECT 0
MOVE k 1 <- SET k x EX 100
COPY a b
COPY a b <- SET a x
COPY a b <- SET a x ; SET b y
COPY a b REPLACE <- SET a x ; SET b y
COPY a b DB 1 <- SET a x
COPY a b REPLACE <- SET a x
SORT k STORE d
SORT k STORE d <- SET d x
SORT k STORE d <- RPUSH k 2 1
SORT k STORE d <- RPUSH k 2 1 ; SET d x
SORT k STORE k <- RPUSH k 2 1
SORT k
SORT_RO k
SORT k BY nosort_* GET w_* <- RPUSH k 2 1 ; SET w_1 x
EXISTS k
EXISTS a b
TYPE k
TTL k
PTTL k
EXPIRETIME k
TOUCH k
TOUCH k <- SET k x
DUMP k
OBJECT ENCODING k
OBJECT IDLETIME k
OBJECT FREQ k
SCAN 0
SSCAN k 0
HSCAN k 0
ZSCAN k 0
RANDOMKEY
KEYS *
GET k <- SET k x PX 50 ; DEBUG SLEEP 0.1
MGET a k b <- SET k x PX 50 ; DEBUG SLEEP 0.1
SET k v <- SET k x PX 50 ; DEBUG SLEEP 0.1
LPUSH k v <- SET k x PX 50 ; DEBUG SLEEP 0.1
SUNION a k <- SADD k x ; PEXPIRE k 50 ; DEBUG SLEEP 0.1
EXISTS k <- SET k x PX 50 ; DEBUG SLEEP 0.1
TYPE k <- SET k x PX 50 ; DEBUG SLEEP 0.1
RENAME a k <- SET k x PX 50 ; SET a y ; DEBUG SLEEP 0.1
GETDEL k <- SET k x PX 50 ; DEBUG SLEEP 0.1
KEYS * <- SET k x PX 50 ; DEBUG SLEEP 0.1
SCAN 0 <- SET k x PX 50 ; DEBUG SLEEP 0.1
DBSIZE <- SET k x PX 50 ; DEBUG SLEEP 0.1
DEL k <- SET k x PX 50 ; DEBUG SLEEP 0.1
FLUSHDB <- SET k x
FLUSHALL <- SET k x
SWAPDB 0 1 <- SET k x
DEBUG SLEEP 0
RESTORE k 0 \\x00\\x01x\\x0b\\x00\\x99\\x99\\x99
RESTORE k 0 "\\x00\\x01x\\x09\\x00\\xf2r\\xd7\\x93\\xe9n+a" REPLACE <- SET k x PX 50 ; DEBUG SLEEP 0.1
RESTORE k 0 "\\x00\\x01x\\x09\\x00\\xf2r\\xd7\\x93\\xe9n+a" <- SET k x PX 50 ; DEBUG SLEEP 0.1
RESTORE k 1 "\\x00\\x01x\\x09\\x00\\xf2r\\xd7\\x93\\xe9n+a" REPLACE ABSTTL <- SET k x PX 50 ; DEBUG SLEEP 0.1
XADD s 1-1 f v
XADD s 2-1 f v <- XADD s 1-1 f v
XADD s MAXLEN 1 2-1 f v <- XADD s 1-1 f v
XADD s MAXLEN 0 2-1 f v <- XADD s 1-1 f v
XADD s MINID 9 2-1 f v <- XADD s 1-1 f v
XADD s NOMKSTREAM 2-1 f v
XDEL s 1-1
XDEL s 1-1 <- XADD s 1-1 f v
XDEL s 9-1 <- XADD s 1-1 f v
XTRIM s MAXLEN 0
XTRIM s MAXLEN 0 <- XADD s 1-1 f v
XTRIM s MAXLEN 5 <- XADD s 1-1 f v
XSETID s 5-5 <- XADD s 1-1 f v
XGROUP CREATE s g 0
XGROUP CREATE s g 0 MKSTREAM
XGROUP CREATE s g 0 <- XADD s 1-1 f v
XGROUP SETID s g 0 <- XGROUP CREATE s g 0 MKSTREAM
XGROUP DESTROY s g <- XGROUP CREATE s g 0 MKSTREAM
XGROUP DESTROY s q <- XGROUP CREATE s g 0 MKSTREAM
XGROUP CREATECONSUMER s g c <- XGROUP CREATE s g 0 MKSTREAM
XGROUP CREATECONSUMER s g c <- XGROUP CREATE s g 0 MKSTREAM ; XGROUP CREATECONSUMER s g c
XGROUP DELCONSUMER s g c <- XGROUP CREATE s g 0 MKSTREAM ; XGROUP CREATECONSUMER s g c
XGROUP DELCONSUMER s g c <- XGROUP CREATE s g 0 MKSTREAM
XREADGROUP GROUP g c STREAMS s > <- XADD s 1-1 f v ; XGROUP CREATE s g 0
XREADGROUP GROUP g c STREAMS s > <- XGROUP CREATE s g 0 MKSTREAM
XREADGROUP GROUP g c STREAMS s 0 <- XGROUP CREATE s g 0 MKSTREAM
XACK s g 1-1 <- XADD s 1-1 f v ; XGROUP CREATE s g 0 ; XREADGROUP GROUP g c STREAMS s >
XCLAIM s g d 0 1-1 <- XADD s 1-1 f v ; XGROUP CREATE s g 0 ; XREADGROUP GROUP g c STREAMS s >
XAUTOCLAIM s g d 0 0 <- XADD s 1-1 f v ; XGROUP CREATE s g 0 ; XREADGROUP GROUP g c STREAMS s >
XREAD STREAMS s 0
XRANGE s - +
XREVRANGE s + -
XLEN s
XPENDING s g
XINFO STREAM s
MULTI ; SET a 1 ; LPUSH l x ; EXEC
MULTI ; DEL a ; INCR a ; EXEC <- SET a x
"""
def commands_of(text):
    return [words_of(command) for command in text.split(" ; ")]


class KeyEvents(unittest.TestCase):
    def test_each_command_tells_the_same(self):
        pair = Pair(self.oracle, emulated=bool(self.oracle.our_options))
        self.addCleanup(pair.stop)
        for line in LINES.strip().split("\n"):
            what, _, before = line.partition(" <- ")
            pair.run([[b"SELECT", b"0"], [b"FLUSHALL"], [b"DEBUG", b"SET-ACTIVE-EXPIRE", b"0"]] + (commands_of(before) if before else []))
            with self.subTest(line):
                try:
                    replies = pair.run_marked(commands_of(what))
                    pair.compare_events(commands_of(what), replies, line)
                except Difference as difference:
                    self.fail(str(difference))


oracles.multiply(globals(), KeyEvents)


if __name__ == "__main__":
    unittest.main()
