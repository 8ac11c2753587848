package respite.junit;

import java.lang.annotation.ElementType;
import java.lang.annotation.Inherited;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;
import org.junit.jupiter.api.extension.ExtendWith;

/**
 * Gives the tests of a class a server, which each test finds empty, as a parameter of type {@link respite.RespiteServer}.
 * A parameter of type {@link respite.RespiteWorld} is a separate isolated server for that test, for tests in parallel;
 * such a test does not reset the server.
 */
@Target(ElementType.TYPE)
@Retention(RetentionPolicy.RUNTIME)
@Inherited
@ExtendWith(RespiteExtension.class)
public @interface Respite {
  /** More arguments of respite-server. Classes with equal arguments share a server. */
  String[] args() default {};
}
