package respite.spring;

import java.util.Map;
import java.util.TreeMap;
import org.springframework.context.ApplicationContextInitializer;
import org.springframework.context.ApplicationListener;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.event.ContextClosedEvent;
import org.springframework.core.env.MapPropertySource;
import respite.RespiteServer;

/**
 * Starts a server for an application context, and points spring.data.redis (and spring.redis of Spring Boot 2) to it. The
 * server is a bean, and ends with the context.
 */
public final class RespiteInitializer implements ApplicationContextInitializer<ConfigurableApplicationContext> {
  @Override
  public void initialize(ConfigurableApplicationContext context) {
    RespiteServer server = RespiteServer.start();
    Map<String, Object> properties = new TreeMap<>();
    for (String prefix : new String[] {"spring.data.redis.", "spring.redis."}) {
      properties.put(prefix + "host", server.host());
      properties.put(prefix + "port", server.port());
    }
    context.getEnvironment().getPropertySources().addFirst(new MapPropertySource("respite", properties));
    context.getBeanFactory().registerSingleton("respiteServer", server);
    context.addApplicationListener((ApplicationListener<ContextClosedEvent>) event -> {
      if (event.getApplicationContext() == context) {
        server.close();
      }
    });
  }
}
