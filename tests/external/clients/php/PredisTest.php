<?php
// Predis, the client written in PHP.

declare(strict_types=1);

require_once __DIR__ . '/Server.php';
require_once 'Predis/autoload.php';

use PHPUnit\Framework\TestCase;
use Predis\Client;
use Predis\Collection\Iterator\Keyspace;
use Predis\Command\ScriptCommand;
use Predis\Response\ServerException;

final class CompareAndDelete extends ScriptCommand
{
    public function getKeysCount(): int
    {
        return 1;
    }

    public function getScript(): string
    {
        return "if redis.call('get', KEYS[1]) == ARGV[1] then return redis.call('del', KEYS[1]) else return 0 end";
    }
}

final class PredisTest extends TestCase
{
    private Client $redis;
    /** @var Server[] */
    private array $servers = [];

    protected function setUp(): void
    {
        $this->redis = $this->connect();
        $this->redis->flushall();
    }

    protected function tearDown(): void
    {
        foreach ($this->servers as $server) {
            $server->finish();
        }
    }

    private function connect(array $options = []): Client
    {
        return new Client(['host' => host(), 'port' => port(), 'read_write_timeout' => 10], $options);
    }

    public function testRepliesOfEveryType(): void
    {
        self::assertSame('OK', (string) $this->redis->set('name', '虎哥'));
        self::assertSame('虎哥', $this->redis->get('name'));
        self::assertNull($this->redis->get('none'));
        $this->redis->hmset('h', ['a' => 1, 'b' => 2]);
        self::assertSame(['a' => '1', 'b' => '2'], $this->redis->hgetall('h'));
        $this->redis->zadd('z', ['m' => 1.5, 'n' => 3]);
        self::assertSame(['m' => '1.5', 'n' => '3'], $this->redis->zrange('z', 0, -1, 'WITHSCORES'));
        $this->expectException(ServerException::class);
        $this->expectExceptionMessage('WRONGTYPE Operation against a key holding the wrong kind of value');
        $this->redis->lpush('name', ['x']);
    }

    public function testPipelineAndTransaction(): void
    {
        $replies = $this->redis->pipeline(function ($pipe) {
            for ($n = 0; $n < 2000; $n++) {
                $pipe->incr('n');
            }
        });
        self::assertSame(range(1, 2000), $replies);
        $results = $this->redis->transaction(fn ($tx) => $tx->set('k', 1)->incr('k'));
        self::assertSame(2, $results[1]);
    }

    public function testOptimisticTransactionIsTriedAgain(): void
    {
        $this->redis->set('stock', 10);
        $attempts = 0;
        $results = $this->redis->transaction(['watch' => 'stock', 'cas' => true, 'retry' => 3], function ($tx) use (&$attempts) {
            $stock = (int) $tx->get('stock');
            if (++$attempts === 1) {
                $this->connect()->decr('stock');
            }
            $tx->multi();
            $tx->set('stock', $stock - 1);
        });
        self::assertSame(2, $attempts);
        self::assertSame('OK', (string) $results[0]);
        self::assertSame('8', $this->redis->get('stock'));
    }

    public function testScriptCommandFallsBackToEval(): void
    {
        $redis = $this->connect();
        $redis->getProfile()->defineCommand('compareanddelete', CompareAndDelete::class);
        $redis->script('flush');
        $redis->set('lock', 'me');
        self::assertSame(0, $redis->compareanddelete('lock', 'another'));
        self::assertSame(1, $redis->compareanddelete('lock', 'me'));
        self::assertSame([1], $redis->script('exists', sha1((new CompareAndDelete())->getScript())));
    }

    public function testPubSubLoop(): void
    {
        $publisher = inChild(function () {
            $redis = $this->connect();
            eventually('both listen', fn () => $redis->publish('news', 'hello') === 1);
            $redis->publish('order.new', 'stop');
        });
        $received = [];
        $loop = $this->connect()->pubSubLoop();
        $loop->psubscribe('order.*');
        $loop->subscribe('news');
        foreach ($loop as $message) {
            if ($message->kind === 'message' || $message->kind === 'pmessage') {
                $received[] = "$message->channel: $message->payload";
                if ($message->payload === 'stop') {
                    $loop->stop(); // unsubscribes; the loop goes on until the server has confirmed it
                }
            }
        }
        self::assertTrue(succeeded($publisher));
        self::assertSame(['news: hello', 'order.new: stop'], $received);
    }

    public function testMonitor(): void
    {
        $other = $this->connect();
        $monitor = $this->connect()->monitor();
        $other->set('qingshan', '2673');
        foreach ($monitor as $event) {
            if ($event->command === 'SET') {
                self::assertSame('"qingshan" "2673"', $event->arguments);
                self::assertSame(0, $event->database);
                break;
            }
        }
        $monitor->stop();
    }

    public function testKeyspaceIterator(): void
    {
        $this->redis->pipeline(function ($pipe) {
            for ($n = 0; $n < 500; $n++) {
                $pipe->set("user:$n", $n);
            }
        });
        self::assertCount(500, array_unique(iterator_to_array(new Keyspace($this->redis, 'user:*', 50), false)));
    }

    public function testKeysAreSpreadOverThreeServers(): void
    {
        $this->servers = array_map(fn () => new Server(), range(1, 3));
        $nodes = array_map(fn (Server $server) => "tcp://127.0.0.1:$server->port", $this->servers);
        $client = new Client($nodes, ['cluster' => 'predis', 'prefix' => 'app:']);
        for ($n = 0; $n < 300; $n++) {
            $client->set("k$n", $n);
        }
        self::assertSame('299', $client->get('k299'));
        $sizes = array_map(fn (string $node) => (new Client($node))->dbsize(), $nodes);
        self::assertSame(300, array_sum($sizes));
        self::assertGreaterThan(0, min($sizes));
    }
}
