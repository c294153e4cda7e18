import CarabinerWire
import Testing

@Suite("IP addresses and networks")
struct IPAddressTests {
  @Test(
    "an address is written in its usual form",
    arguments: [
      ("192.0.2.1", "192.0.2.1"), ("0.0.0.0", "0.0.0.0"), ("255.255.255.255", "255.255.255.255"), ("::", "::"), ("::1", "::1"),
      ("1::", "1::"), ("2001:DB8::1", "2001:db8::1"), ("2001:db8:0:0:1:0:0:1", "2001:db8::1:0:0:1"),
      ("2001:0db8:0000:0001:0001:0001:0001:0001", "2001:db8:0:1:1:1:1:1"), ("1:0:0:2:0:0:0:3", "1:0:0:2::3"),
      ("::ffff:192.0.2.1", "192.0.2.1"), ("::ffff:c000:201", "192.0.2.1"), ("64:ff9b::192.0.2.1", "64:ff9b::c000:201"),
      ("1:2:3:4:5:6:1.2.3.4", "1:2:3:4:5:6:102:304"),
    ])
  func usual(text: String, usual: String) {
    #expect(IPAddress(text[...])?.description == usual)
    #expect(IPAddress(usual[...]) == IPAddress(text[...]))
  }

  @Test(
    "other texts are not addresses",
    arguments: [
      "", "1", "1.2.3", "1.2.3.4.5", "1.2.3.256", "01.2.3.4", "1.2.3.4 ", " 1.2.3.4", "1.2.3.+4", "1..3.4", ":", ":::", "1:",
      ":1",
      "1::2::3", "1:2:3:4:5:6:7", "1:2:3:4:5:6:7:8:9", "1:2:3:4:5:6:7::8:9", "12345::", "g::", "::1%eth0", "[::1]", "1.2.3.4::",
      "::1.2.3", "::1.2.3.4:5", "1:2:3:4:5:6:7:1.2.3.4", "localhost", "1.2.3.4/8",
    ])
  func others(text: String) {
    #expect(IPAddress(text[...]) == nil)
  }

  @Test("a network contains the addresses with its prefix, in both forms of IPv4")
  func networks() throws {
    func contains(_ network: String, _ address: String) throws -> Bool {
      try IPNetwork(network).contains(#require(IPAddress(address[...])))
    }
    #expect(try contains("10.0.0.0/8", "10.255.0.1") && contains("10.0.0.0/8", "::ffff:10.0.0.1"))
    #expect(try !contains("10.0.0.0/8", "11.0.0.1") && !contains("10.0.0.0/8", "::10.0.0.1"))
    #expect(try contains("192.0.2.128/25", "192.0.2.129") && !contains("192.0.2.128/25", "192.0.2.127"))
    #expect(try contains("192.0.2.1", "192.0.2.1") && !contains("192.0.2.1", "192.0.2.2"))
    #expect(try contains("2001:db8::/33", "2001:db8:7fff::1") && !contains("2001:db8::/33", "2001:db8:8000::1"))
    #expect(try contains("::/0", "192.0.2.1") && contains("0.0.0.0/0", "192.0.2.1") && !contains("0.0.0.0/0", "::1"))
    #expect(try contains("2001:db8::7/128", "2001:db8::7") && !contains("2001:db8::7/128", "2001:db8::6"))
    #expect(try contains("2001:db8:0:0:8000::/65", "2001:db8::ffff:0:0:1") && !contains("2001:db8:0:0:8000::/65", "2001:db8::1"))
  }

  @Test(
    "a network with host bits names the network",
    arguments: [("10.0.0.1/8", "10.0.0.0/8"), ("2001:db8::1/64", "2001:db8::/64")])
  func hostBits(text: String, network: String) throws {
    let expected = try IPNetwork(network)
    #expect(throws: IPNetwork.Fault.hostBits(network: expected)) { try IPNetwork(text) }
    #expect(expected.description == network)
  }

  @Test(
    "a malformed network",
    arguments: ["", "/8", "10.0.0.0/", "10.0.0.0/33", "10.0.0.0/8/8", "10.0.0.0/+8", "::/129", "a/8", "10.0.0.0/008x"])
  func malformed(text: String) {
    #expect(throws: IPNetwork.Fault.malformed) { try IPNetwork(text) }
  }
}
