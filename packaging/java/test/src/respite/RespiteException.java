package respite;

/** The server replied with an error, or cannot be started or reached. */
public final class RespiteException extends RuntimeException {
  private static final long serialVersionUID = 1;

  RespiteException(String text) {
    super(text);
  }

  RespiteException(String text, Throwable cause) {
    super(text, cause);
  }
}
