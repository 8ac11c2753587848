# Redis.pm, the client written in Perl.
use v5.36;
use lib 'lib';
use ClientTests;
use Redis;
use Test::More;

subtest 'tied hashes and lists' => sub {
    require Redis::Hash;
    require Redis::List;
    my @server = (server => "$ENV{REDIS_HOST}:$ENV{REDIS_PORT}");
    Redis->new(@server)->flushall;
    tie my %hash, 'Redis::Hash', 'tied', @server;
    @hash{qw(a b)} = (1, 2);
    is_deeply [sort keys %hash], [qw(a b)], 'keys';
    delete $hash{a};
    ok !exists $hash{a}, 'deleted';
    tie my @list, 'Redis::List', 'list', @server;
    push @list, 1 .. 3;
    is pop @list, 3, 'pop';
    is_deeply [@list], [1, 2], 'elements';
};

ClientTests::run_with('Redis');
