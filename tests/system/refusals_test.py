"""What commands of administration and scripts refuse, and with which texts: our server emulates the oracle, gets the
same requests, and each reply must have the same bytes. differential_test.py compares commands on data."""
import shlex
import unittest

import oracles
from differential_test import Pair

CLIENTS = """
CLIENT KILL ID notanumber
CLIENT KILL ID 0
CLIENT KILL ID -1
CLIENT KILL ID 777 778
CLIENT KILL ID 777 x
CLIENT KILL ID ""
CLIENT KILL ID 99999999999999999999
CLIENT KILL MAXAGE x
CLIENT KILL MAXAGE 0
CLIENT KILL MAXAGE -1
CLIENT KILL MAXAGE 1000000
CLIENT KILL TYPE x
CLIENT KILL USER nobody
CLIENT KILL SKIPME x
CLIENT KILL SKIPME
CLIENT KILL LADDR x
CLIENT KILL FOO x
CLIENT KILL 1.2.3.4:5
CLIENT LIST ID
CLIENT LIST ID x
CLIENT LIST ID 0
CLIENT LIST ID -1
CLIENT LIST ID 777 x
CLIENT LIST ID 99999999999999999999
CLIENT LIST TYPE x
CLIENT LIST FOO x
CLIENT LIST USER nobody
CLIENT LIST MAXAGE x
CLIENT LIST MAXAGE 0
CLIENT LIST SKIPME x
CLIENT LIST TYPE master
CLIENT LIST TYPE primary
CLIENT LIST ID ID
CLIENT LIST TYPE normal ID
CLIENT LIST ID TYPE pubsub
CLIENT KILL ID USER nobody
CLIENT KILL ID SKIPME yes
CLIENT NO-EVICT x
CLIENT NO-TOUCH x
CLIENT REPLY x
CLIENT SETINFO x y
CLIENT SETINFO lib-name "a b"
CLIENT SETNAME "a b"
CLIENT TRACKING x
CLIENT TRACKING on BCAST PREFIX a PREFIX ab
CLIENT CACHING yes
CLIENT UNBLOCK x
CLIENT UNBLOCK 777 x
CLIENT UNBLOCK 99999999999999999999
CLIENT PAUSE x
CLIENT PAUSE -1
CLIENT PAUSE 1 x
CLIENT GETREDIR x
CLIENT CAPA x
CLIENT CAPA
CLIENT IMPORT-SOURCE x
AUTH
AUTH a b
AUTH a b c
HELLO x
HELLO 4
HELLO 3 x
HELLO 3 AUTH a
HELLO 3 AUTH a b
HELLO 3 SETNAME "a b"
HELLO 2 SETNAME
SELECT x
SELECT 99
SELECT -1
"""

OBSERVATION = """
OBJECT FREQ nokey
OBJECT FOO x
OBJECT ENCODING
OBJECT ENCODING a b
DEBUG FOO
DEBUG SLEEP x
DEBUG OBJECT nokey
MEMORY USAGE
MEMORY USAGE nokey
MEMORY USAGE a SAMPLES x
MEMORY USAGE a SAMPLES -1
MEMORY FOO
SLOWLOG GET x
SLOWLOG GET -2
SLOWLOG FOO
SLOWLOG LEN x
LATENCY HISTORY
LATENCY HISTORY x
LATENCY GRAPH x
LATENCY FOO
LATENCY RESET x y
LATENCY HISTOGRAM nosuch
COMMAND FOO
COMMAND COUNT x
COMMAND GETKEYS
COMMAND GETKEYS foo
COMMAND GETKEYS get
COMMAND GETKEYS ping
COMMAND GETKEYS eval x y
COMMAND GETKEYS eval x 2 a b
COMMAND GETKEYS mset a
COMMAND GETKEYS sort a store b
COMMAND GETKEYS migrate h 1 a 0 1
COMMAND GETKEYS xread streams a 0
COMMAND GETKEYS xread count 1
COMMAND GETKEYSANDFLAGS set a b
COMMAND GETKEYSANDFLAGS ping
COMMAND LIST FILTERBY x
COMMAND LIST FILTERBY MODULE x
COMMAND LIST FILTERBY ACLCAT x
COMMAND LIST FILTERBY PATTERN xyz*
COMMAND LIST x
COMMAND INFO nosuch get|x config|get|x
COMMAND DOCS nosuch
"""

SCRIPTS = r"""
SCRIPT FOO
SCRIPT EXISTS
SCRIPT EXISTS x
SCRIPT FLUSH x
SCRIPT FLUSH SYNC x
SCRIPT KILL
SCRIPT KILL x
SCRIPT LOAD
SCRIPT LOAD "return ("
SCRIPT DEBUG x
SCRIPT SHOW x
FUNCTION LOAD x
FUNCTION LOAD "#!lua name=x\nreturn 1"
FUNCTION LOAD "#!js name=x\nreturn 1"
FUNCTION LOAD "#!lua\nreturn 1"
FUNCTION LOAD "#! name=x\nreturn 1"
FUNCTION LIST x
FUNCTION LIST LIBRARYNAME
FUNCTION DELETE nolib
FUNCTION DUMP x
FUNCTION RESTORE x
FUNCTION FLUSH x
FUNCTION KILL
FUNCTION FOO
FCALL nofunc 0
FCALL nofunc x
FCALL nofunc -1
FCALL nofunc 5 a
EVAL "return 1" x
EVAL "return 1" -1
EVAL "return 1" 3 a
EVAL "error('x')" 0
EVAL "error({err='MY x'})" 0
EVAL "return redis.call('foo')" 0
EVAL "return redis.call('get')" 0
EVAL "return redis.pcall('get')" 0
EVAL "return redis.call()" 0
EVAL "return redis.call({})" 0
EVAL "x=1" 0
EVAL "return y" 0
EVAL "return redis.setresp(5)" 0
EVAL "return redis.log()" 0
EVAL "return redis.log(9,'x')" 0
EVAL "return redis.sha1hex()" 0
EVAL "return redis.error_reply()" 0
EVAL "return redis.error_reply('x')" 0
EVAL "return redis.status_reply('x')" 0
EVAL "return {1,2,nil,3}" 0
EVAL "return cjson.decode('{')" 0
EVAL "return cmsgpack.unpack('')" 0
EVAL "return bit.tobit('x')" 0
EVAL "return struct.pack('x')" 0
EVAL "return redis.acl_check_cmd('foo')" 0
EVAL "#!lua flags=foo\nreturn 1" 0
EVAL "#!lua foo=x\nreturn 1" 0
EVAL "#!foo\nreturn 1" 0
EVAL "#!lua2\nreturn 1" 0
EVAL "#!LUA\nreturn 1" 0
EVAL "#!\nreturn 1" 0
EVAL "#!js foo\nreturn 1" 0
EVAL "#! lua\nreturn 1" 0
EVAL "#!lua flags=no-writes\nreturn redis.call('set','a','b')" 0
EVAL_RO "return redis.call('set','a','b')" 0
EVALSHA x 0
EVALSHA 0000000000000000000000000000000000000000 0
"""

DIRECTIVES = """
CONFIG GET
CONFIG GET nosuch
CONFIG SET nosuch x
CONFIG SET maxmemory x
CONFIG SET maxmemory -1
CONFIG SET maxmemory 1 maxmemory 2
CONFIG SET port x
CONFIG SET databases 5
CONFIG SET hz x
CONFIG SET maxmemory-policy x
CONFIG SET save x
CONFIG SET save 1
CONFIG SET appendfsync x
CONFIG SET notify-keyspace-events x
CONFIG SET client-output-buffer-limit x
CONFIG SET client-output-buffer-limit "normal 1"
CONFIG SET oom-score-adj x
CONFIG SET oom-score-adj-values "1 2"
CONFIG SET list-max-listpack-size x
CONFIG SET timeout -1
CONFIG SET requirepass
CONFIG SET loglevel x
CONFIG SET bind x.x.x.x.x
CONFIG SET acllog-max-len x
CONFIG SET slowlog-log-slower-than x
CONFIG SET proto-max-bulk-len 1
CONFIG SET io-threads 4
CONFIG SET lazyfree-lazy-expire maybe
CONFIG SET daemonize yes
CONFIG RESETSTAT x
CONFIG REWRITE
CONFIG FOO
"""

USERS = """
ACL CAT x
ACL WHOAMI x
ACL GETUSER nosuch
ACL DELUSER default
ACL DELUSER nosuch
ACL SETUSER u +foo
ACL SETUSER u +@foo
ACL SETUSER u foo
ACL SETUSER u ~
ACL SETUSER u %x~a
ACL SETUSER u #x
ACL SETUSER u <nopass
ACL SETUSER u !x
ACL SETUSER u (+get
ACL SETUSER u +get)
ACL SETUSER u +config|foo
ACL SETUSER u -config|get|x
ACL SETUSER u +get|x
ACL SETUSER u allchannels &a
ACL SETUSER "a b"
ACL SETUSER u allkeys ~a
ACL GENPASS x
ACL GENPASS 0
ACL GENPASS 5000
ACL LOG x
ACL LOG -1
ACL LOG RESET x
ACL LOAD
ACL SAVE
ACL DRYRUN nosuch get a
ACL DRYRUN default nosuch
ACL DRYRUN default get
ACL FOO
"""

PROCESS = """
PUBSUB FOO
PUBSUB NUMSUB
PUBSUB NUMPAT x
PUBSUB CHANNELS a b
PUBSUB SHARDCHANNELS
PUBSUB SHARDNUMSUB a
SUBSCRIBE
SPUBLISH
MODULE LOAD x
MODULE FOO
MODULE UNLOAD x
REPLICAOF x
REPLICAOF a b
REPLICAOF NO x
FAILOVER x
FAILOVER ABORT
FAILOVER TO a
FAILOVER TIMEOUT -1
FAILOVER FORCE
SYNC x
PSYNC x
REPLCONF x
REPLCONF foo bar
WAIT x 0
WAIT -1 0
WAIT 0 -1
WAITAOF 0 0 x
WAITAOF 2 0 0
WAITAOF 1 0 0
SHUTDOWN x
SHUTDOWN ABORT
SHUTDOWN SAVE NOSAVE
BGSAVE x
BGSAVE SCHEDULE x
SWAPDB x 0
SWAPDB 0 x
SWAPDB 0 99
FLUSHALL x
FLUSHDB ASYNC x
CLUSTER INFO
CLUSTER KEYSLOT
CLUSTER KEYSLOT a
CLUSTER FOO
READONLY
READWRITE
ASKING
MULTI x
EXEC
DISCARD
UNWATCH x
WATCH
RESET x
"""


def words_of(line):
    return [word.replace("\\n", "\n") for word in shlex.split(line)]


class Refusals(unittest.TestCase):
    def compare(self, lines):
        if not self.oracle.is_emulated:
            self.skipTest(f"{self.oracle.label} is not emulated")
        pair = Pair(self.oracle, emulated=True)
        try:
            for line in lines.strip().splitlines():
                (ours, theirs), = pair.run([words_of(line)])
                with self.subTest(line):
                    self.assertEqual(theirs, ours)
            ours, theirs = (set(reply.split(b"\r\n")[2:]) for reply in pair.run([["INFO", "errorstats"]])[0])
            self.assertEqual(theirs, ours)
        finally:
            pair.stop()

    def test_clients(self):
        self.compare(CLIENTS)

    def test_observation(self):
        self.compare(OBSERVATION)

    def test_scripts(self):
        self.compare(SCRIPTS)

    def test_directives(self):
        self.compare(DIRECTIVES)

    def test_users(self):
        self.compare(USERS)

    def test_process(self):
        self.compare(PROCESS)


oracles.multiply(globals(), Refusals)

if __name__ == "__main__":
    unittest.main()
