<?php
// phpredis, the extension written in C.

declare(strict_types=1);

require_once __DIR__ . '/Server.php';

use PHPUnit\Framework\TestCase;

final class PhpRedisTest extends TestCase
{
    private Redis $redis;
    /** @var Server[] */
    private array $servers = [];

    protected function setUp(): void
    {
        $this->redis = $this->connect();
        $this->redis->flushAll();
    }

    protected function tearDown(): void
    {
        foreach ($this->servers as $server) {
            $server->finish();
        }
    }

    private function connect(): Redis
    {
        $redis = new Redis();
        $redis->connect(host(), port(), 5.0, null, 0, 10.0);
        return $redis;
    }

    /** This release of phpredis keeps the byte after the text. */
    private function lastError(): string
    {
        return rtrim($this->redis->getLastError(), "\0\r");
    }

    private function server(string ...$arguments): Server
    {
        return $this->servers[] = new Server($arguments);
    }

    public function testStringsAndKeys(): void
    {
        self::assertTrue($this->redis->set('name', '虎哥'));
        self::assertSame('虎哥', $this->redis->get('name'));
        self::assertFalse($this->redis->get('none'));
        self::assertFalse($this->redis->set('name', 'x', ['nx', 'ex' => 10]));
        self::assertTrue($this->redis->set('name', 'jack', ['xx', 'px' => 10000]));
        self::assertSame(10, $this->redis->ttl('name'));
        self::assertSame(42, $this->redis->incrBy('n', 42));
        self::assertSame(10.5, $this->redis->incrByFloat('f', 10.5));
        self::assertTrue($this->redis->mset(['a' => '1', 'b' => '2']));
        self::assertSame(['1', false, '2'], $this->redis->mget(['a', 'none', 'b']));
        self::assertSame(2, $this->redis->exists('a', 'b', 'none'));
        self::assertSame(Redis::REDIS_STRING, $this->redis->type('a'));
        self::assertTrue($this->redis->rename('a', 'c'));
        self::assertSame(2, $this->redis->unlink('b', 'c'));
        $binary = implode('', array_map('chr', range(0, 255)));
        $this->redis->set($binary, $binary);
        self::assertSame($binary, $this->redis->get($binary));
    }

    public function testHashesListsSets(): void
    {
        self::assertTrue($this->redis->hMSet('h', ['a' => 1, 'b' => 2]));
        self::assertSame(['a' => '1', 'b' => '2'], $this->redis->hGetAll('h'));
        self::assertSame(['a' => '1', 'none' => false], $this->redis->hMGet('h', ['a', 'none']));
        self::assertSame(3, $this->redis->hIncrBy('h', 'b', 1));
        self::assertSame(3, $this->redis->rPush('l', 'x', 'y', 'z'));
        self::assertSame(['y', 'z'], $this->redis->lRange('l', 1, -1));
        self::assertSame('z', $this->redis->rPopLPush('l', 'm'));
        self::assertSame(2, $this->redis->lInsert('m', Redis::BEFORE, 'z', 'first'));
        self::assertSame(2, $this->redis->sAdd('s', 'x', 'y'));
        $this->redis->sAdd('t', 'y');
        self::assertSame(['y'], $this->redis->sInter('s', 't'));
        self::assertTrue($this->redis->sIsMember('s', 'x'));
    }

    public function testSortedSetsAndPlaces(): void
    {
        self::assertSame(2, $this->redis->zAdd('rank', 85, 'Jack', 89.5, 'Lucy'));
        self::assertSame(['Jack' => 85.0, 'Lucy' => 89.5], $this->redis->zRange('rank', 0, -1, true));
        self::assertSame(['Lucy'], $this->redis->zRevRangeByScore('rank', '100', '(85', ['limit' => [0, 1]]));
        self::assertSame(90.5, $this->redis->zIncrBy('rank', 1, 'Lucy'));
        self::assertFalse($this->redis->zScore('rank', 'nobody'));
        self::assertSame(['Lucy' => 90.5], $this->redis->zPopMax('rank'));
        self::assertSame(2, $this->redis->geoAdd('Sicily', 13.361389, 38.115556, 'Palermo', 15.087269, 37.502669, 'Catania'));
        self::assertSame(166.2742, $this->redis->geoDist('Sicily', 'Palermo', 'Catania', 'km'));
        self::assertSame(['sqc8b49rny0'], $this->redis->geoHash('Sicily', 'Palermo'));
        self::assertSame(['Catania', 'Palermo'], $this->redis->geoRadius('Sicily', 15, 37, 200, 'km', ['ASC']));
    }

    public function testErrorsAreKeptOrThrown(): void
    {
        $this->redis->set('text', 'abc');
        self::assertFalse($this->redis->incr('text'));
        self::assertSame('ERR value is not an integer or out of range', $this->lastError());
        self::assertFalse($this->redis->lPush('text', 'x'));
        self::assertSame('WRONGTYPE Operation against a key holding the wrong kind of value', $this->lastError());
    }

    public function testPipelineAndTransaction(): void
    {
        $pipe = $this->redis->multi(Redis::PIPELINE);
        for ($n = 0; $n < 5000; $n++) {
            $pipe->set("k$n", $n)->get("k$n");
        }
        $replies = $pipe->exec();
        self::assertCount(10000, $replies);
        self::assertSame('4999', $replies[9999]);
        self::assertSame([1, 6, true], $this->redis->multi()->incr('n')->incrBy('n', 5)->set('x', 'y')->exec());
    }

    public function testWatchedKeyChangedByAnother(): void
    {
        $this->redis->watch('balance');
        $this->connect()->set('balance', '1');
        self::assertFalse($this->redis->multi()->set('balance', '2')->exec());
        self::assertSame('1', $this->redis->get('balance'));
    }

    /** @dataProvider serializers */
    public function testSerializer(int $serializer, mixed $value): void
    {
        $this->redis->setOption(Redis::OPT_SERIALIZER, $serializer);
        $this->redis->setOption(Redis::OPT_PREFIX, 'app:');
        $this->redis->set('object', $value);
        $this->redis->hSet('hash', 'field', $value);
        $this->redis->rPush('list', $value, [1, 2]);
        self::assertEquals($value, $this->redis->get('object'));
        self::assertEquals(['field' => $value], $this->redis->hGetAll('hash'));
        self::assertEquals([$value, [1, 2]], $this->redis->lRange('list', 0, -1));
        self::assertSame(1, $this->connect()->exists('app:object'));
    }

    public function serializers(): array
    {
        $value = ['name' => '王五', 'age' => 21, 'tags' => [true, null, 1.5]];
        return [
            'PHP' => [Redis::SERIALIZER_PHP, $value],
            'igbinary' => [Redis::SERIALIZER_IGBINARY, $value],
            'JSON' => [Redis::SERIALIZER_JSON, $value],
        ];
    }

    public function testScanOverKeysAndMembers(): void
    {
        $pipe = $this->redis->multi(Redis::PIPELINE);
        for ($n = 0; $n < 1500; $n++) {
            $pipe->set("key:$n", $n)->sAdd('set', $n)->hSet('hash', "f$n", $n)->zAdd('zset', $n, "m$n");
        }
        $pipe->exec();
        $this->redis->setOption(Redis::OPT_SCAN, Redis::SCAN_RETRY);
        $walk = function (callable $next): int {
            $found = [];
            $cursor = null;
            while (($page = $next($cursor)) !== false) {
                foreach ($page as $key => $value) {
                    $found[is_string($key) ? $key : $value] = true;
                }
            }
            return count($found);
        };
        self::assertSame(1500, $walk(function (&$cursor) { return $this->redis->scan($cursor, 'key:*', 100); }));
        self::assertSame(1500, $walk(function (&$cursor) { return $this->redis->sScan('set', $cursor); }));
        self::assertSame(1500, $walk(function (&$cursor) { return $this->redis->hScan('hash', $cursor); }));
        self::assertSame(10, $walk(function (&$cursor) { return $this->redis->zScan('zset', $cursor, 'm123?'); }));
    }

    public function testScripts(): void
    {
        $this->redis->script('flush');
        $source = "if redis.call('get', KEYS[1]) == ARGV[1] then return redis.call('del', KEYS[1]) else return 0 end";
        $this->redis->set('lock', 'me');
        self::assertFalse($this->redis->evalSha(sha1($source), ['lock', 'me'], 1));
        self::assertSame('NOSCRIPT No matching script. Please use EVAL.', $this->lastError());
        self::assertSame(0, $this->redis->eval($source, ['lock', 'another'], 1));
        self::assertSame(sha1($source), $this->redis->script('load', $source));
        self::assertSame(1, $this->redis->evalSha(sha1($source), ['lock', 'me'], 1));
        self::assertSame([1, 'two', [3], false], $this->redis->eval("return {1, 'two', {3}, false}"));
    }

    public function testStreams(): void
    {
        self::assertTrue($this->redis->xGroup('CREATE', 'stream.orders', 'g1', '0', true));
        self::assertSame('1-0', $this->redis->xAdd('stream.orders', '1-0', ['userId' => '1001', 'voucherId' => '7']));
        $entry = ['1-0' => ['userId' => '1001', 'voucherId' => '7']];
        self::assertSame(['stream.orders' => $entry], $this->redis->xReadGroup('g1', 'c1', ['stream.orders' => '>'], 1, 2000));
        self::assertSame(['stream.orders' => $entry], $this->redis->xReadGroup('g1', 'c1', ['stream.orders' => '0']));
        self::assertSame([1, '1-0', '1-0', [['c1', '1']]], $this->redis->xPending('stream.orders', 'g1'));
        self::assertSame($entry, $this->redis->xClaim('stream.orders', 'g1', 'c2', 0, ['1-0']));
        self::assertSame(1, $this->redis->xAck('stream.orders', 'g1', ['1-0']));
        self::assertSame($entry, $this->redis->xRange('stream.orders', '-', '+'));
        self::assertSame(1, $this->redis->xInfo('STREAM', 'stream.orders')['length']);
    }

    public function testSubscriberReceivesMessages(): void
    {
        $publisher = inChild(function () {
            $redis = $this->connect();
            eventually('somebody listens', fn () => $redis->publish('order_channel', 'New order: #12345') === 1);
        });
        $received = [];
        $collect = function (Redis $redis, string $channel, string $message) use (&$received) {
            $received[] = "$channel: $message";
            $redis->close(); // the only way out of the loop
        };
        try {
            $this->redis->subscribe(['order_channel'], $collect);
        } catch (RedisException $end) {
            self::assertSame('Connection closed', $end->getMessage());
        }
        self::assertTrue(succeeded($publisher));
        self::assertSame(['order_channel: New order: #12345'], $received);
    }

    public function testBlockingPopIsWoken(): void
    {
        self::assertSame([], $this->redis->blPop(['queue'], 1));
        $pusher = inChild(function () {
            $redis = $this->connect();
            eventually('it blocks', fn () => $redis->info('clients')['blocked_clients'] === 1);
            $redis->rPush('queue', 'job');
        });
        self::assertSame(['queue', 'job'], $this->redis->blPop(['none', 'queue'], 5));
        self::assertTrue(succeeded($pusher));
    }

    public function testSessionHandler(): void
    {
        $request = fn (string $code) => shell_exec(
            PHP_BINARY . ' -d session.save_handler=redis -d session.save_path=' . escapeshellarg('"tcp://' . host() . ':' . port()
            . '?prefix=SESSION:"') . ' -d redis.session.locking_enabled=1 -d session.gc_maxlifetime=100 -r '
            . escapeshellarg("session_id('abc'); session_start(); $code")
        );
        self::assertSame('1', $request('echo $_SESSION["count"] = ($_SESSION["count"] ?? 0) + 1;'));
        self::assertSame('2', $request('echo $_SESSION["count"] = ($_SESSION["count"] ?? 0) + 1;'));
        self::assertSame('count|i:2;', $this->redis->get('SESSION:abc'));
        self::assertSame(100, $this->redis->ttl('SESSION:abc'));
        $request('session_regenerate_id(true); session_destroy();');
        self::assertSame([], $this->redis->keys('SESSION:*'));
    }

    public function testSessionLockKeepsRequestsApart(): void
    {
        $code = 'session_id("abc"); session_start(); $_SESSION["n"] = ($_SESSION["n"] ?? 0) + 1; usleep(20000);';
        $command = PHP_BINARY . ' -d session.save_handler=redis -d session.save_path=' . escapeshellarg('tcp://' . host() . ':'
            . port()) . ' -d redis.session.locking_enabled=1 -d redis.session.lock_retries=-1 -d redis.session.lock_wait_time=5000'
            . ' -r ' . escapeshellarg($code);
        $requests = array_map(fn () => proc_open($command, [], $pipes), range(1, 6));
        foreach ($requests as $request) {
            self::assertSame(0, proc_close($request));
        }
        self::assertSame('n|i:6;', $this->redis->get('PHPREDIS_SESSION:abc'));
    }

    public function testPasswordUnixSocketAndDatabase(): void
    {
        $server = $this->server('--requirepass', 'secret');
        $redis = new Redis();
        $redis->connect($server->folder . '/socket');
        try {
            $redis->get('k');
            self::fail('no exception');
        } catch (RedisException $error) {
            self::assertSame('NOAUTH Authentication required.', $error->getMessage());
        }
        self::assertTrue($redis->auth('secret'));
        self::assertTrue($redis->auth(['default', 'secret']));
        self::assertTrue($redis->select(3));
        self::assertTrue($redis->set('k', 'v'));
        self::assertSame(['db3'], array_keys($redis->info('keyspace')));
    }

    public function testReconnectingAfterACrash(): void
    {
        $server = $this->server('--appendonly', 'yes', '--appendfsync', 'always');
        $redis = new Redis();
        $redis->connect('127.0.0.1', $server->port);
        $redis->set('k', 'v');
        $server->kill();
        try {
            $redis->get('k');
            self::fail('a dead server answers');
        } catch (RedisException) {
            $server->start();
        }
        $redis->connect('127.0.0.1', $server->port);
        self::assertSame('v', $redis->get('k'));
    }

    public function testRedisArrayOverThreeServers(): void
    {
        $hosts = array_map(fn () => '127.0.0.1:' . $this->server()->port, range(1, 3));
        $array = new RedisArray($hosts);
        for ($n = 0; $n < 300; $n++) {
            $array->set("k$n", (string) $n);
        }
        self::assertSame('299', $array->get('k299'));
        self::assertSame(['0', '150', '299'], $array->mget(['k0', 'k150', 'k299']));
        $sizes = array_map(fn (string $host) => $array->_instance($host)->dbSize(), $hosts);
        self::assertSame(300, array_sum($sizes));
        self::assertGreaterThan(0, min($sizes));
    }

    public function testDumpRestoreObjectAndRawCommands(): void
    {
        $this->redis->rPush('l', '1', '2');
        self::assertTrue($this->redis->restore('copy', 0, $this->redis->dump('l')));
        self::assertSame(['1', '2'], $this->redis->lRange('copy', 0, -1));
        $this->redis->hSet('h', 'f', 'v');
        self::assertSame('listpack', $this->redis->object('encoding', 'h'));
        self::assertSame(['maxmemory', '0'], $this->redis->rawCommand('CONFIG', 'GET', 'maxmemory'));
        self::assertSame('Redis', $this->redis->echo('Redis'));
    }
}
