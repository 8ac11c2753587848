"""What a node of a cluster announces to clients: separate addresses for IPv4 and IPv6 clients."""
import socket
import unittest

from hostile import Raw
from launcher import LaunchTest, call, free_port, wait_until

IPV4, IPV6 = "192.0.2.7", "2001:db8::7"


def has_ipv6():
    try:
        with socket.socket(socket.AF_INET6) as probe:
            probe.bind(("::1", 0))
        return True
    except OSError:
        return False


@unittest.skipUnless(has_ipv6(), "this machine has no IPv6")
class Announce(LaunchTest):
    def node(self, name, *options):
        return self.start("--port", "auto", "--bind", "127.0.0.1", "::1", "--cluster-enabled", "yes", "--cluster-port",
                          str(free_port()), "--cluster-config-file", self.path(name), "--save", "", *options)

    def client(self, host, port):
        client = Raw(port, host=host)
        self.addCleanup(client.close)
        return client

    def told(self, port):
        """Returns what the node reports about the owner of a slot, to a client of each address family."""
        return [client.run("GET", "a") for client in (self.client("127.0.0.1", port), self.client("::1", port))]

    def test_each_family_has_its_address(self):
        asked, owner = self.node("asked"), self.node("owner", "--cluster-announce-client-ipv4", IPV4)
        bus = call(owner.port, "CLUSTER", "NODES").split("@")[1].split(" ")[0].split(",")[0]
        self.assertEqual("+OK", call(owner.port, "CONFIG", "SET", "cluster-announce-client-ipv6", IPV6))
        self.assertEqual("+OK", call(owner.port, "CLUSTER", "ADDSLOTSRANGE", 0, 16383))
        self.assertEqual("+OK", call(asked.port, "CLUSTER", "MEET", "127.0.0.1", owner.port, bus))

        def moved(ipv4, ipv6):
            expected = [b"-MOVED 15495 %s:%d\r\n" % (ip.encode(), owner.port) for ip in (ipv4, ipv6)]
            return lambda: self.told(asked.port) == expected

        wait_until(moved(IPV4, IPV6), "the address arrives", 20)
        for host, mine, other in (("127.0.0.1", IPV4, IPV6), ("::1", IPV6, IPV4)):
            client = self.client(host, asked.port)
            for words in (("SLOTS",), ("SHARDS",), ("NODES",)):
                in_script = client.run("EVAL", f"return redis.call('CLUSTER', '{words[0]}')", "0")
                for reply in (client.run("CLUSTER", *words), in_script):
                    self.assertIn(mine.encode(), reply, words)
                    self.assertNotIn(other.encode(), reply, words)
        call(asked.port, "CLUSTER", "SAVECONFIG")
        with open(self.path("asked")) as file:
            text = file.read()
        self.assertIn(f",client-ipv6={IPV6},client-ipv4={IPV4},", text)
        self.assertIn(f" 127.0.0.1:{owner.port}@{bus},", text)

        asked.kill()
        asked = self.node("asked")
        wait_until(moved(IPV4, IPV6), "the file has it", 20)
        for directive in ("cluster-announce-client-ipv4", "cluster-announce-client-ipv6"):
            self.assertEqual("+OK", call(owner.port, "CONFIG", "SET", directive, ""))
        wait_until(moved("127.0.0.1", "127.0.0.1"), "nothing is announced any more", 20)

    def test_only_addresses_of_the_family(self):
        node = self.node("alone")
        for directive, wrong, text in (("cluster-announce-client-ipv4", IPV6, "Invalid IPv4 address"),
                                       ("cluster-announce-client-ipv4", "1.2.3", "Invalid IPv4 address"),
                                       ("cluster-announce-client-ipv6", IPV4, "Invalid IPv6 address"),
                                       # The value would have been written to nodes.conf, and the node could not have
                                       # started again.
                                       ("cluster-announce-client-ipv4", "1.2.3.4\0,\nx", "Invalid IPv4 address"),
                                       ("cluster-announce-client-ipv6", "::1\0 x", "Invalid IPv6 address"),
                                       ("cluster-announce-client-ipv6", "a,b", "Invalid IPv6 address")):
            self.assertEqual(f"-ERR CONFIG SET failed (possibly related to argument '{directive}') - {text}",
                             call(node.port, "CONFIG", "SET", directive, wrong))


if __name__ == "__main__":
    unittest.main()
