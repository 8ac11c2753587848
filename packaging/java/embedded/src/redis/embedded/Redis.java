package redis.embedded;

import java.io.IOException;
import java.util.List;

/** The interface of embedded-redis: tests that use it change only the dependency. */
public interface Redis {
  boolean isActive();

  void start() throws IOException;

  void stop() throws IOException;

  List<Integer> ports();
}
