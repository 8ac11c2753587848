package ClientTests;

# Tests that both Redis.pm and Redis::Fast, which have the same interface, must pass.

use v5.36;
use IO::Socket::INET;
use Test::More;
use Test::RedisServer;
use Time::HiRes qw(sleep time);

my $address = "$ENV{REDIS_HOST}:$ENV{REDIS_PORT}";

sub eventually ($what, $condition) {
    my $deadline = time + 10;
    until ($condition->()) {
        die "in vain waited until $what" if time > $deadline;
        sleep 0.005;
    }
}

# Runs a function with its own connection in a child process. The result says whether the child survived.
sub in_child ($class, $work) {
    my $pid = fork // die "fork: $!";
    return sub { waitpid $pid, 0; $? == 0 } if $pid;
    my $lived = eval { $work->($class->new(server => $address)); 1 };
    print STDERR $@ unless $lived;
    require POSIX;
    POSIX::_exit($lived ? 0 : 1);
}

sub run_with ($class) {
    my $redis = $class->new(server => $address);
    my sub on_empty ($name, $test) {
        $redis->flushall;
        subtest $name => $test;
    }
    my sub dies_with ($code, $text, $name) {
        eval { $code->(); 1 } and return fail $name;
        like $@, qr/\Q$text\E/, $name;
    }

    on_empty 'values of every type' => sub {
        is $redis->set(name => "\xe8\x99\x8e"), 'OK', 'SET';
        is $redis->get('name'), "\xe8\x99\x8e", 'bytes come back';
        is $redis->get('none'), undef, 'nil is undef';
        is $redis->set('name', 'x', 'NX', 'EX', 10), undef, 'SET NX of a key that exists';
        is $redis->incrby('n', 42), 42, 'INCRBY';
        is_deeply {$redis->hgetall('none')}, {}, 'no hash';
        $redis->hmset('h', a => 1, b => 2);
        is_deeply {$redis->hgetall('h')}, {a => 1, b => 2}, 'HGETALL';
        is $redis->rpush('l', 1 .. 5), 5, 'RPUSH';
        is_deeply [$redis->lrange('l', 1, -2)], [2, 3, 4], 'LRANGE';
        $redis->zadd('z', 1.5, 'm', 3, 'n');
        is_deeply {$redis->zrange('z', 0, -1, 'WITHSCORES')}, {m => 1.5, n => 3}, 'ZRANGE WITHSCORES';
        my $binary = join '', map {chr} 0 .. 255;
        $redis->set($binary, $binary);
        is $redis->get($binary), $binary, 'all bytes in key and value';
        is_deeply [sort($redis->keys('*'))], [sort('name', 'n', 'h', 'l', 'z', $binary)], 'KEYS';
    };

    on_empty 'errors carry the text of the server' => sub {
        $redis->set(text => 'abc');
        dies_with(sub { $redis->incr('text') }, 'ERR value is not an integer or out of range', 'INCR of text');
        dies_with(sub { $redis->lpush('text', 1) },
            'WRONGTYPE Operation against a key holding the wrong kind of value', 'LPUSH to text');
        dies_with(sub { $redis->nosuch('a') }, "ERR unknown command 'NOSUCH', with args beginning with: 'a'",
            'unknown command');
    };

    on_empty 'pipelined replies come in order' => sub {
        my @replies;
        for my $n (1 .. 5000) {
            $redis->incr('n', sub ($reply, $error) { push @replies, $reply });
        }
        $redis->wait_all_responses;
        is_deeply \@replies, [1 .. 5000], '5000 replies';
    };

    on_empty 'transactions' => sub {
        $redis->multi;
        is $redis->set(k => 1), 'QUEUED', 'QUEUED';
        $redis->incr('k');
        is_deeply [$redis->exec], ['OK', 2], 'EXEC';
        my $other = $class->new(server => $address);
        $redis->watch('k');
        $other->set(k => 5);
        $redis->multi;
        $redis->set(k => 9);
        is_deeply [grep { defined } $redis->exec], [], 'the watched key was changed by another';
        is $redis->get('k'), 5, 'nothing was done';
    };

    on_empty 'scripts' => sub {
        my $source = q{if redis.call('get', KEYS[1]) == ARGV[1] then return redis.call('del', KEYS[1]) else return 0 end};
        $redis->script_flush;
        $redis->set(lock => 'me');
        dies_with(sub { $redis->evalsha('0' x 40, 0) }, 'NOSCRIPT No matching script. Please use EVAL.', 'NOSCRIPT');
        is $redis->eval($source, 1, 'lock', 'another'), 0, 'another one';
        my $sha = $redis->script_load($source);
        is $redis->evalsha($sha, 1, 'lock', 'me'), 1, 'the owner';
        is_deeply [$redis->eval(q{return {1, 'two', {3}}}, 0)], [1, 'two', [3]], 'nested reply';
    };

    on_empty 'streams' => sub {
        is $redis->xgroup('CREATE', 'stream.orders', 'g1', '0', 'MKSTREAM'), 'OK', 'group';
        is $redis->xadd('stream.orders', '1-0', userId => 1001), '1-0', 'XADD';
        my $entries = [['stream.orders', [['1-0', ['userId', '1001']]]]];
        is_deeply [$redis->xreadgroup(qw(GROUP g1 c1 COUNT 1 BLOCK 2000 STREAMS stream.orders >))], $entries, 'read';
        is_deeply [$redis->xreadgroup(qw(GROUP g1 c1 STREAMS stream.orders 0))], $entries, 'pending';
        is $redis->xack('stream.orders', 'g1', '1-0'), 1, 'XACK';
        is +($redis->xpending('stream.orders', 'g1'))[0], 0, 'nothing pending';
    };

    on_empty 'a subscriber hears channels and patterns' => sub {
        my $subscriber = $class->new(server => $address);
        my @heard;
        my $hear = sub ($message, $topic, $subscribed) { push @heard, "$subscribed $topic $message" };
        $subscriber->subscribe('order_channel', $hear);
        $subscriber->psubscribe('order.*', $hear);
        is $redis->publish('order_channel', 'New order: #12345'), 1, 'one listener';
        $redis->publish('order.paid', '7');
        $subscriber->wait_for_messages(1) while @heard < 2;
        is_deeply \@heard, ['order_channel order_channel New order: #12345', 'order.* order.paid 7'], 'messages';
        $subscriber->unsubscribe('order_channel', $hear);
        $subscriber->punsubscribe('order.*', $hear);
        is $subscriber->ping, 'PONG', 'commands again';
    };

    on_empty 'a blocked pop is woken' => sub {
        is_deeply [grep { defined } $redis->blpop('queue', '0.1')], [], 'nothing within its time';
        my $pushed = in_child($class, sub ($other) {
            eventually('it blocks', sub { $other->info->{blocked_clients} == 1 });
            $other->rpush('queue', 'job');
        });
        is_deeply [$redis->blpop('none', 'queue', 5)], ['queue', 'job'], 'woken';
        ok $pushed->(), 'by the other';
    };

    on_empty 'SCAN sees every key' => sub {
        $redis->set("key:$_", $_, sub { }) for 1 .. 1000;
        $redis->wait_all_responses;
        my ($cursor, %seen) = (0);
        do {
            ($cursor, my $page) = $redis->scan($cursor, 'MATCH', 'key:*', 'COUNT', 100);
            $seen{$_} = 1 for @$page;
        } while $cursor;
        is keys %seen, 1000, 'a thousand';
    };

    subtest 'reconnecting after a restart' => sub {
        my %conf = (port => free_port(), bind => '127.0.0.1');
        my $server = Test::RedisServer->new(conf => {%conf});
        my $own = $class->new(server => "127.0.0.1:$conf{port}", reconnect => 5, every => 20_000);
        $own->set(k => 'v');
        $server->stop;
        my $next = Test::RedisServer->new(conf => {%conf});
        is $own->set(k => 'w'), 'OK', 'connected again';
        is $own->get('k'), 'w', 'and at work';
    };

    done_testing;
    return;
}

sub free_port () {
    my $socket = IO::Socket::INET->new(Listen => 1, LocalAddr => '127.0.0.1') or die "no port: $!";
    return $socket->sockport;
}

1;
