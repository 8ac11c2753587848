# The jobs of the Sidekiq tests, which the worker process loads.
require "sidekiq"

Sidekiq.options[:poll_interval_average] = 1

class Greeter
  include Sidekiq::Worker

  def perform(name)
    Sidekiq.redis { |redis| redis.rpush("greeted", name) }
  end
end

# Fails twice, then works.
class Flaky
  include Sidekiq::Worker
  sidekiq_options retry: 5
  sidekiq_retry_in { 1 }

  def perform
    raise "not yet" if Sidekiq.redis { |redis| redis.incr("attempts") } < 3

    Sidekiq.redis { |redis| redis.set("flaky", "done") }
  end
end

class Hopeless
  include Sidekiq::Worker
  sidekiq_options retry: 0

  def perform
    raise ArgumentError, "hopeless"
  end
end
