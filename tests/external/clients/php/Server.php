<?php
// A server of a test's own, and where the suite's server is.

declare(strict_types=1);

function host(): string
{
    return getenv('REDIS_HOST');
}

function port(): int
{
    return (int) getenv('REDIS_PORT');
}

/** Polls until the condition holds, for at most ten seconds. */
function eventually(string $what, callable $condition): void
{
    $deadline = microtime(true) + 10;
    while (!$condition()) {
        if (microtime(true) > $deadline) {
            throw new RuntimeException("in vain waited until $what");
        }
        usleep(5000);
    }
}

/** Runs a function in a child process. Returns the process id; succeeded() tells whether the function threw. */
function inChild(callable $work): int
{
    $pid = pcntl_fork();
    if ($pid === 0) {
        try {
            $work();
            $code = 0;
        } catch (Throwable $error) {
            fwrite(STDERR, $error->getMessage() . "\n");
            $code = 1;
        }
        posix_kill(posix_getpid(), $code === 0 ? SIGKILL : SIGABRT); // without the test runner's own end
    }
    return $pid;
}

function succeeded(int $pid): bool
{
    pcntl_waitpid($pid, $status);
    return pcntl_wifsignaled($status) && pcntl_wtermsig($status) === SIGKILL;
}

final class Server
{
    public readonly int $port;
    public readonly string $folder;
    /** @var resource|null */
    private $process = null;

    /** @param string[] $arguments */
    public function __construct(private array $arguments = [])
    {
        $socket = stream_socket_server('tcp://127.0.0.1:0');
        $this->port = (int) substr(strrchr(stream_socket_get_name($socket, false), ':'), 1);
        fclose($socket);
        $this->folder = sys_get_temp_dir() . '/clients-php-' . bin2hex(random_bytes(6));
        mkdir($this->folder);
        $this->start();
    }

    public function start(): void
    {
        $command = [getenv('REDIS_SERVER'), '--port', (string) $this->port, '--bind', '127.0.0.1', '--save', '',
            '--dir', $this->folder, '--unixsocket', $this->folder . '/socket', ...$this->arguments];
        $this->process = proc_open($command, [1 => ['file', '/dev/null', 'w']], $pipes);
        eventually('the server answers', fn () => $this->answers());
    }

    private function answers(): bool
    {
        $socket = @stream_socket_client("tcp://127.0.0.1:{$this->port}");
        if ($socket === false) {
            return false;
        }
        fwrite($socket, "PING\r\n");
        return (bool) preg_match('/^(\+PONG|-NOAUTH)/', (string) fgets($socket));
    }

    public function kill(): void
    {
        if ($this->process !== null) {
            proc_terminate($this->process, SIGKILL);
            proc_close($this->process);
            $this->process = null;
        }
    }

    public function finish(): void
    {
        $this->kill();
        exec('rm -rf ' . escapeshellarg($this->folder));
    }
}
