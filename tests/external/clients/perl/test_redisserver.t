# Test::RedisServer starts the program named redis-server in the path.
use v5.36;
use Redis;
use Test::More;
use Test::RedisServer;

subtest 'a server on a unix socket' => sub {
    my $server = Test::RedisServer->new;
    my ($pid, $folder) = ($server->pid, "" . $server->tmpdir);
    my $redis = Redis->new($server->connect_info);
    is $redis->set(k => 'v'), 'OK', 'in use';
    is $redis->info->{process_id}, $pid, 'the process it knows';
    undef $redis;
    $server->stop;
    ok !kill(0, $pid), 'no process is left';
    undef $server;
    ok !-e $folder, 'no folder is left';
};

subtest 'its configuration reaches the server' => sub {
    my $server = Test::RedisServer->new(conf => {databases => 3, 'maxmemory-policy' => 'allkeys-lru', appendonly => 'yes'});
    my $redis = Redis->new($server->connect_info);
    is_deeply {$redis->config_get('databases')}, {databases => 3}, 'databases';
    is_deeply {$redis->config_get('maxmemory-policy')}, {'maxmemory-policy' => 'allkeys-lru'}, 'policy';
    is $redis->info->{aof_enabled}, 1, 'append-only file';
};

subtest 'two servers at a time' => sub {
    my @servers = map { Test::RedisServer->new } 1 .. 2;
    my @clients = map { Redis->new($_->connect_info) } @servers;
    $clients[0]->set(only => 'here');
    is $clients[1]->get('only'), undef, 'they share nothing';
};

subtest 'a wrong directive is told with the log' => sub {
    ok !eval { Test::RedisServer->new(conf => {nosuchdirective => 'yes'}, timeout => 2); 1 }, 'it does not start';
    like $@, qr/failed to launch redis-server/, 'it says so';
    like $@, qr/Bad directive or wrong number of arguments/, 'with the reason';
};

done_testing;
