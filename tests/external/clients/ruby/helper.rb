# Shared by the tests: results as TAP, the server of the suite, and servers for single tests.
require "fileutils"
require "minitest"
require "redis"
require "socket"
require "tmpdir"

Redis.sadd_returns_boolean = false

# Prints a line for each test, and the failures as diagnostics.
class TapReporter < Minitest::AbstractReporter
  def initialize
    super
    @number = 0
    @failed = false
  end

  def record(result)
    @number += 1
    failed = !result.passed? && !result.skipped?
    @failed ||= failed
    name = result.name.delete_prefix("test_").tr("_", " ")
    puts "#{"not " if failed}ok #{@number} - #{name}#{" # SKIP #{result.failure.message}" if result.skipped?}"
    result.failures.each { |failure| puts "#{failure.message}\n#{failure.location}".gsub(/^/, "# ") } if failed
  end

  def report
    puts "1..#{@number}"
  end

  def passed?
    !@failed
  end
end

module Clients
  URL = "redis://#{ENV.fetch("REDIS_HOST")}:#{ENV.fetch("REDIS_PORT")}"

  # A server that belongs to one test. Its folder, with a unix socket in it, survives kill and start.
  class Server
    attr_reader :port, :folder

    def initialize(*args)
      @port = TCPServer.open("127.0.0.1", 0) { |socket| socket.addr[1] }
      @folder = Dir.mktmpdir("clients-ruby-")
      @args = args
      start
    end

    def url = "redis://127.0.0.1:#{port}"

    def socket = File.join(folder, "socket")

    def start
      @pid = spawn(ENV.fetch("REDIS_SERVER"), "--port", port.to_s, "--bind", "127.0.0.1", "--save", "", "--dir", folder,
                   "--unixsocket", socket, *@args, out: File::NULL)
      Clients.eventually("the server answers") { answers? }
    rescue Minitest::Assertion
      finish
      raise
    end

    def kill
      return unless @pid

      Process.kill(:KILL, @pid)
      Process.wait(@pid)
      @pid = nil
    end

    def finish
      kill
      FileUtils.rm_rf(folder)
    end

    private

    def answers?
      answer = TCPSocket.open("127.0.0.1", port) { |socket| socket.write("PING\r\n") && socket.gets }
      answer == "+PONG\r\n" || answer&.start_with?("-NOAUTH")
    rescue SystemCallError
      false
    end
  end

  # Polls until the block returns true, for at most `limit` seconds.
  def self.eventually(what, limit: 10)
    deadline = Time.now + limit
    until yield
      raise Minitest::Assertion, "in vain waited until #{what}" if Time.now > deadline

      sleep 0.01
    end
  end
end

# Runs the tests of this file; the exit code shows success.
def Minitest.run_as_tap
  reporter = TapReporter.new
  Minitest.seed = srand % 0xFFFF
  Minitest::Runnable.runnables.each { |suite| suite.run(reporter, {}) }
  reporter.report
  exit reporter.passed?
end
