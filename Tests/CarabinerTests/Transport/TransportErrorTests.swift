import Carabiner
import Testing

@Suite("Errors of a transport")
struct TransportErrorTests {
  @Test(
    "show where a request went, and not as whom",
    arguments: [
      ("http://user:secret@host:1/a?b=c@d", "http://host:1/a?b=c@d"), ("https://user@host", "https://host"),
      ("http://a:b@c@host/", "http://host/"), ("http://host/a@b", "http://host/a@b"), ("http://host?a@b", "http://host?a@b"),
      ("ws://:secret@[::1]:2/", "ws://[::1]:2/"), ("", ""), ("no url at@all", "no url at@all"), ("://@", "://"),
    ])
  func withoutUser(_ url: String, _ shown: String) {
    let error = TransportError(.cannotConnect, "connection refused", url: url)
    #expect(error.url == shown)
    #expect("\(WebSocketError(.cannotConnect, "connection refused", url: url))" == "\(error)")
    #expect("\(error)" == "connection refused [cannotConnect, \(shown)]")
  }
}
