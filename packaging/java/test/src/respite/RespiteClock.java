package respite;

import java.time.Duration;
import java.time.Instant;
import java.util.Map;

/** The clock of a server or a world: see TEST CLOCK. */
public final class RespiteClock {
  private final RespitePlace place;

  RespiteClock(RespitePlace place) {
    this.place = place;
  }

  public void freeze() {
    place.test("CLOCK", "FREEZE");
  }

  public void freeze(Instant at) {
    place.test("CLOCK", "FREEZE", at.toEpochMilli());
  }

  /** Lets time pass. Everything that falls due meanwhile has happened when this returns. */
  public void advance(Duration duration) {
    place.test("CLOCK", "ADVANCE", duration.toMillis());
  }

  public void set(Instant time) {
    place.test("CLOCK", "SET", time.toEpochMilli());
  }

  /** Jumps to the next event that falls due, and returns it; null if there was none. */
  public Object next() {
    return place.test("CLOCK", "NEXT");
  }

  public void real() {
    place.test("CLOCK", "REAL");
  }

  public Instant now() {
    return Instant.ofEpochMilli((Long) ((Map<?, ?>) place.test("CLOCK")).get("now"));
  }
}
