import Carabiner
import CarabinerWire
import TestTools
import Testing

@testable import CarabinerGateway

@Suite("The client behind trusted proxies")
struct ForwardedForTests {
  private func client(_ values: String...) throws -> String? {
    let networks = try ["10.0.0.0/8", "2001:db8:ffff::/48"].map { try IPNetwork($0) }
    return ForwardedFor.client(values) { address in networks.contains { $0.contains(address) } }
  }

  @Test("it is the rightmost address that is not a trusted proxy", .rule("gateway.17"))
  func rightmost() throws {
    #expect(try client("192.0.2.1") == "192.0.2.1")
    #expect(try client("198.51.100.9, 192.0.2.1, 10.1.1.1") == "192.0.2.1")
    #expect(try client("198.51.100.9", "192.0.2.1,10.1.1.1", "10.2.2.2") == "192.0.2.1")
    #expect(try client("192.0.2.1, 2001:db8:ffff::1") == "192.0.2.1")
    #expect(try client("2001:DB8:0:0::7") == "2001:db8::7")
    #expect(try client("::ffff:192.0.2.1, ::ffff:10.0.0.1") == "192.0.2.1")
    #expect(try client("192.0.2.1:4711, [2001:db8:ffff::1]:80, [2001:db8:ffff::2]") == "192.0.2.1")
  }

  @Test("if all are trusted proxies, it is the leftmost one", .rule("gateway.17"))
  func allTrusted() throws {
    #expect(try client("10.0.0.1, 10.0.0.2") == "10.0.0.1")
  }

  @Test("text that is not an address ends the search, so a client cannot hide behind it", .rule("gateway.17"))
  func malformed() throws {
    #expect(try client("192.0.2.1, unknown, 10.0.0.2") == "10.0.0.2")
    #expect(try client("192.0.2.1, unknown") == nil)
    #expect(try client("192.0.2.1, ") == nil)
    #expect(try client("") == nil)
    #expect(try client() == nil)
    #expect(try client("192.0.2.1:port") == nil)
    #expect(try client("010.0.0.1") == nil)
  }

  @Test("the upstream gets the list that a trusted proxy continued, and nothing that another client claims", .rule("gateway.17"))
  func fields() {
    let sent: HTTPHeaders = [
      "Host": "gateway.test", "X-Forwarded-For": "192.0.2.1", "X-Forwarded-Proto": "https", "X-Forwarded-Host": "shop.test",
    ]
    func fields(_ origin: RequestOrigin) -> [String?] {
      var headers: HTTPHeaders = ["X-Forwarded-For": "spoofed", "X-Other": "stays"]
      ForwardedFields(sent, origin).set(in: &headers)
      return ["X-Forwarded-For", "X-Forwarded-Proto", "X-Forwarded-Host", "X-Other"].map { headers[$0] }
    }
    let trusted = RequestOrigin(client: "192.0.2.1", peer: "10.0.0.1", isPeerTrusted: true, isSecure: false)
    #expect(fields(trusted) == ["192.0.2.1, 10.0.0.1", "https", "shop.test", "stays"])
    #expect(fields(RequestOrigin(client: "203.0.113.5")) == ["203.0.113.5", "http", "gateway.test", "stays"])
    #expect(fields(RequestOrigin(client: "203.0.113.5", isSecure: true))[1] == "https")
  }
}
