import CarabinerWire
import TestTools
import Testing

@Suite("Patterns of origins")
struct OriginPatternTests {
  @Test(
    "an origin is exact, has a star for one or more labels, or is a star", .rule("gateway.19"),
    arguments: [
      ("https://example.org", "https://example.org", true), ("https://Example.org:443", "HTTPS://example.org", true),
      ("https://example.org", "http://example.org", false), ("https://example.org", "https://example.org:8443", false),
      ("http://[::1]:3000", "http://[::1]:3000", true), ("https://*.example.org", "https://a.example.org", true),
      ("https://*.example.org", "https://a.b.example.org", true), ("https://*.example.org", "https://example.org", false),
      ("https://*.example.org", "https://.example.org", false), ("https://*.example.org", "https://evilexample.org", false),
      ("https://*.example.org", "https://evil.test/.example.org", false),
      ("https://*.example.org", "http://a.example.org", false),
      ("https://*.example.org", "https://a.example.org:8443", false),
      ("https://*.example.org:8443", "https://a.example.org:8443", true),
      ("https://*.example.org", "https://a..example.org", false), ("*", "null", true),
      ("capacitor://localhost", "capacitor://localhost", true),
    ])
  func match(_ pattern: String, _ origin: String, _ isAllowed: Bool) throws {
    let pattern = try #require(OriginPattern(pattern))
    #expect(pattern.matches(OriginPattern.normal(origin)) == isAllowed)
  }

  @Test(
    "a text that is not an origin is not a pattern", .rule("gateway.19"),
    arguments: [
      "", "null", "example.org", "*.example.org", "*.org", "https://", "https://example.org/", "https://example.org/path",
      "https://a.*.example.org", "https://*", "https://*.", "https://*example.org", "https://user@example.org",
      "https://example.org:x",
      "https://example.org:", "https://example.org:65536", "https://example.org?x", "https://a b", "https://*.[::1]",
      "https://[::1",
      "://example.org", "1http://example.org", "**",
    ])
  func refused(_ text: String) {
    #expect(OriginPattern(text) == nil)
  }
}
