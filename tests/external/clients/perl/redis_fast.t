# Redis::Fast, which is Redis.pm's interface on top of hiredis.
use v5.36;
use lib 'lib';
use ClientTests;
use Redis::Fast;

ClientTests::run_with('Redis::Fast');
