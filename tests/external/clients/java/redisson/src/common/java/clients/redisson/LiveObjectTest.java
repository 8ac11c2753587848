package clients.redisson;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.redisson.api.RLiveObjectService;
import org.redisson.api.annotation.REntity;
import org.redisson.api.annotation.RId;

/** Objects whose fields live in a hash on the server. */
@Tag("all")
class LiveObjectTest extends RedissonTest {
  @Test
  void aPersistedObjectIsSharedBetweenClients() {
    RLiveObjectService service = redisson.getLiveObjectService();
    Customer customer = service.persist(new Customer("c1", "Jack", 21));
    Customer elsewhere = another().getLiveObjectService().get(Customer.class, "c1");
    assertEquals("Jack", elsewhere.getName());
    assertEquals(21, elsewhere.getAge());
    customer.setAge(22);
    assertEquals(22, elsewhere.getAge());
    elsewhere.setName("Rose");
    assertEquals("Rose", customer.getName());
    assertTrue(service.isLiveObject(customer));
    assertTrue(service.isExists(customer));
  }

  @Test
  void aPersistedObjectIsDetachedAndDeleted() {
    RLiveObjectService service = redisson.getLiveObjectService();
    Customer customer = service.persist(new Customer("c2", "Tom", 30));
    Customer detached = service.detach(customer);
    assertEquals("Tom", detached.getName());
    assertFalse(service.isLiveObject(detached));
    detached.setName("Eve");
    assertEquals("Tom", customer.getName());
    service.merge(detached);
    assertEquals("Eve", customer.getName());
    service.delete(customer);
    assertNull(service.get(Customer.class, "c2"));
    assertEquals("0", plain.call("DBSIZE"));
  }

  @REntity
  public static class Customer {
    @RId
    private String id;
    private String name;
    private int age;

    public Customer() {}

    public Customer(String id, String name, int age) {
      this.id = id;
      this.name = name;
      this.age = age;
    }

    public String getId() {
      return id;
    }

    public String getName() {
      return name;
    }

    public void setName(String name) {
      this.name = name;
    }

    public int getAge() {
      return age;
    }

    public void setAge(int age) {
      this.age = age;
    }
  }
}
