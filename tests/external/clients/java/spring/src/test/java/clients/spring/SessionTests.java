package clients.spring;

import static clients.support.Await.await;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CopyOnWriteArrayList;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.event.EventListener;
import org.springframework.data.redis.connection.RedisServerCommands;
import org.springframework.data.redis.core.RedisCallback;
import org.springframework.session.FindByIndexNameSessionRepository;
import org.springframework.session.Session;
import org.springframework.session.SessionRepository;
import org.springframework.session.data.redis.config.annotation.web.http.EnableRedisIndexedHttpSession;
import org.springframework.session.events.AbstractSessionEvent;

/** Spring Session with its index of users; keyspace events report sessions that ended. */
abstract class SessionTests extends OnSuiteServer {
  private static final String USER = FindByIndexNameSessionRepository.PRINCIPAL_NAME_INDEX_NAME;

  SessionTests(Driver driver) {
    super(driver, SessionConfiguration.class);
  }

  @Configuration
  @EnableRedisIndexedHttpSession(maxInactiveIntervalInSeconds = 100)
  static class SessionConfiguration {
    @Bean
    Events events() {
      return new Events();
    }
  }

  static class Events {
    final List<String> seen = new CopyOnWriteArrayList<>();

    @EventListener
    void on(AbstractSessionEvent event) {
      seen.add(event.getClass().getSimpleName() + " " + event.getSessionId());
    }
  }

  private SessionRepository<Session> sessions;
  private List<String> events;

  @BeforeEach
  @SuppressWarnings("unchecked")
  void findBeans() {
    sessions = application.getBean(SessionRepository.class);
    events = application.getBean(Events.class).seen;
    events.clear();
  }

  /** Spring Session turned the events on. */
  @AfterAll
  void turnEventsOff() {
    redis.execute((RedisCallback<Void>) connection -> {
      RedisServerCommands server = connection.serverCommands();
      server.setConfig("notify-keyspace-events", "");
      return null;
    });
  }

  private Session login(String user) {
    Session session = sessions.createSession();
    session.setAttribute(USER, user);
    session.setAttribute("cart", List.of("键盘", "mouse"));
    sessions.save(session);
    return session;
  }

  @SuppressWarnings("unchecked")
  private Map<String, ? extends Session> sessionsOf(String user) {
    return ((FindByIndexNameSessionRepository<? extends Session>) application.getBean(SessionRepository.class))
        .findByPrincipalName(user);
  }

  @Test
  void keyspaceEventsAreTurnedOnByTheApplication() {
    String flags =
        redis.execute((RedisCallback<String>) connection ->
            connection.serverCommands().getConfig("notify-keyspace-events").getProperty("notify-keyspace-events"));
    assertTrue(flags.contains("E") && flags.contains("x") && flags.contains("g"), flags);
  }

  @Test
  void sessionIsSavedFoundAndIndexed() {
    Session session = login("jack");
    Session found = sessions.findById(session.getId());
    assertEquals(List.of("键盘", "mouse"), found.getAttribute("cart"));
    assertEquals(Set.of(session.getId()), sessionsOf("jack").keySet());
    assertTrue(sessionsOf("rose").isEmpty());
    await("created", () -> events.contains("SessionCreatedEvent " + session.getId()));
    assertTrue(redis.getExpire("spring:session:sessions:expires:" + session.getId()) > 90);
    assertTrue(redis.getExpire("spring:session:sessions:" + session.getId()) > 390);
  }

  @Test
  void changesAndUsersAreSavedWithTheSession() {
    Session session = login("jack");
    Session found = sessions.findById(session.getId());
    found.setAttribute("cart", List.of());
    found.setAttribute(USER, "rose");
    found.setLastAccessedTime(Instant.now());
    sessions.save(found);
    assertEquals(List.of(), sessions.findById(session.getId()).getAttribute("cart"));
    assertTrue(sessionsOf("jack").isEmpty());
    assertEquals(1, sessionsOf("rose").size());
    String old = found.getId();
    found.changeSessionId();
    sessions.save(found);
    assertNull(sessions.findById(old));
    assertNotNull(sessions.findById(found.getId()));
  }

  @Test
  void deletedSessionTellsItsListeners() {
    Session session = login("jack");
    sessions.deleteById(session.getId());
    await("deleted", () -> events.contains("SessionDeletedEvent " + session.getId()));
    assertNull(sessions.findById(session.getId()));
    assertTrue(sessionsOf("jack").isEmpty());
  }

  @Test
  void expiredSessionTellsItsListeners() {
    Session session = sessions.createSession();
    session.setAttribute(USER, "jack");
    session.setMaxInactiveInterval(Duration.ofSeconds(1));
    sessions.save(session);
    await("expired", () -> events.contains("SessionExpiredEvent " + session.getId()));
    assertNull(sessions.findById(session.getId()));
    assertTrue(sessionsOf("jack").isEmpty());
  }
}
