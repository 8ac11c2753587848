# Sidekiq: jobs pushed here, run by a separate worker process.
require_relative "helper"
ENV["REDIS_URL"] = Clients::URL
require_relative "jobs"
require "sidekiq/api"

class SidekiqWorkers < Minitest::Test
  def setup
    Sidekiq.redis(&:flushall)
  end

  def teardown
    return unless @worker

    Process.kill(:TERM, @worker)
    Process.wait(@worker)
  end

  # Starts the worker process, as a deployment does.
  def work
    log = File.join(ENV.fetch("CLIENTS_WORK"), "sidekiq.log")
    @worker = spawn("sidekiq", "--require", File.join(__dir__, "jobs.rb"), "--concurrency", "3", "--timeout", "2",
                    "--queue", "critical", "--queue", "default", out: log, err: log)
  end

  def eventually(what, &condition) = Clients.eventually(what, limit: 30, &condition)

  def greeted = Sidekiq.redis { |redis| redis.lrange("greeted", 0, -1) }

  def test_jobs_run_once_and_critical_ones_first
    20.times { |n| Greeter.perform_async("default #{n}") }
    Greeter.set(queue: "critical").perform_bulk([["critical 1"], ["critical 2"]])
    assert_equal({ "default" => 20, "critical" => 2 }, Sidekiq::Stats.new.queues)
    work
    eventually("all have run") { greeted.size == 22 }
    # Three threads take jobs at the same time, so another job may end between the two.
    assert_equal ["critical 1", "critical 2"], greeted.first(4).grep(/critical/).sort
    assert_equal 22, greeted.uniq.size
    eventually("the worker has told") { Sidekiq::Stats.new.processed == 22 && Sidekiq::ProcessSet.new.size == 1 }
    assert_equal 3, Sidekiq::ProcessSet.new.first["concurrency"]
  end

  def test_scheduled_job_runs_when_due
    Greeter.perform_in(1, "later")
    Greeter.perform_in(3600, "much later")
    assert_equal 2, Sidekiq::ScheduledSet.new.size
    work
    eventually("the first is due") { greeted == ["later"] }
    assert_equal ["much later"], Sidekiq::ScheduledSet.new.first.args
  end

  def test_failing_job_is_retried_until_it_works
    Flaky.perform_async
    work
    # Sidekiq delays a retry by some random seconds; the button of its web page moves the retry forward in the same way.
    eventually("it works") do
      Sidekiq::RetrySet.new.each(&:retry)
      Sidekiq.redis { |redis| redis.get("flaky") } == "done"
    end
    assert_equal "3", Sidekiq.redis { |redis| redis.get("attempts") }
  end

  def test_hopeless_job_is_buried
    Hopeless.perform_async
    work
    eventually("it is dead") { Sidekiq::DeadSet.new.size == 1 }
    job = Sidekiq::DeadSet.new.first
    assert_equal %w[ArgumentError hopeless], [job["error_class"], job["error_message"]]
    job.delete
    assert_equal 0, Sidekiq::DeadSet.new.size
  end

  def test_due_jobs_are_taken_by_the_script
    require "sidekiq/scheduled"
    Greeter.perform_at(Time.now + 0.01, "due")
    sleep 0.02
    enqueuer = Sidekiq::Scheduled::Enq.new
    enqueuer.enqueue_jobs
    assert_equal 1, Sidekiq::Queue.new.size
    Sidekiq.redis { |redis| redis.script(:flush) }
    Greeter.perform_at(Time.now + 0.01, "due after the scripts are gone")
    sleep 0.02
    enqueuer.enqueue_jobs
    assert_equal ["due after the scripts are gone", "due"], Sidekiq::Queue.new.map { |job| job.args.first }
  end

  def test_queue_can_be_searched_and_cleared
    ids = Array.new(60) { |n| Greeter.perform_async(n) }
    queue = Sidekiq::Queue.new
    assert_equal 60, queue.size
    assert_equal [30], queue.find_job(ids[30]).args
    assert queue.find_job(ids[30]).delete
    assert_equal 59, queue.size
    assert_operator queue.latency, :<, 60
    queue.clear
    assert_equal [], Sidekiq::Queue.all.map(&:name)
  end
end

Minitest.run_as_tap
