package respite.junit;

import java.util.Arrays;
import java.util.List;
import org.junit.jupiter.api.extension.BeforeEachCallback;
import org.junit.jupiter.api.extension.ExtensionContext;
import org.junit.jupiter.api.extension.ExtensionContext.Namespace;
import org.junit.jupiter.api.extension.ExtensionContext.Store.CloseableResource;
import org.junit.jupiter.api.extension.ParameterContext;
import org.junit.jupiter.api.extension.ParameterResolver;
import org.junit.platform.commons.support.AnnotationSupport;
import respite.RespitePlace;
import respite.RespiteServer;
import respite.RespiteWorld;

/** Starts a server for each set of arguments, and ends it after the test run. Without {@link Respite} there are no arguments. */
public final class RespiteExtension implements BeforeEachCallback, ParameterResolver {
  private static final Namespace NAMESPACE = Namespace.create(RespiteExtension.class);

  @Override
  public void beforeEach(ExtensionContext context) {
    boolean hasWorld = Arrays.stream(context.getRequiredTestMethod().getParameterTypes()).anyMatch(RespiteWorld.class::equals);
    if (!hasWorld) {
      server(context).reset();
    }
  }

  @Override
  public boolean supportsParameter(ParameterContext parameter, ExtensionContext context) {
    return RespitePlace.class.isAssignableFrom(parameter.getParameter().getType());
  }

  @Override
  public Object resolveParameter(ParameterContext parameter, ExtensionContext context) {
    RespiteServer server = server(context);
    if (parameter.getParameter().getType() != RespiteWorld.class) {
      return server;
    }
    RespiteWorld world = server.world();
    context.getStore(NAMESPACE).put(world.name(), (CloseableResource) world::close);
    return world;
  }

  private static RespiteServer server(ExtensionContext context) {
    List<String> arguments = AnnotationSupport.findAnnotation(context.getRequiredTestClass(), Respite.class)
        .map(found -> List.of(found.args())).orElse(List.of());
    return context.getRoot().getStore(NAMESPACE).getOrComputeIfAbsent(arguments, Shared::new, Shared.class).server;
  }

  private static final class Shared implements CloseableResource {
    private final RespiteServer server;

    Shared(List<String> arguments) {
      server = RespiteServer.start(arguments.toArray(new String[0]));
    }

    @Override
    public void close() {
      server.close();
    }
  }
}
