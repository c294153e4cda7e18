import Carabiner
import FoundationEssentials
import Testing

@Suite("The line of a request")
struct RequestLineTests {
  private func code(
    _ method: String, _ url: String = "http://127.0.0.1/graphql", body: String? = nil
  ) throws -> TransportError.Code? {
    var request = Carabiner.URLRequest(url: try #require(URL(string: url)), httpMethod: method)
    request.httpBody = body.map { Data($0.utf8) }
    do throws(TransportError) {
      try request.checkLine()
      return nil
    } catch {
      return error.code
    }
  }

  @Test(
    "has a token as its method, and not CONNECT",
    arguments: [
      "", " ", "GET /x HTTP/1.1\r\nHost: h\r\n\r\nGET", "GET\r\n", "G\nET", "G ET", "GET\t", "GÉT", "GET\u{0}", "GET:", "CONNECT",
      String(repeating: "A", count: 33),
    ])
  func method(_ method: String) throws {
    #expect(try code(method) == .invalidMethod)
  }

  @Test("takes the usual methods and any other token", arguments: ["GET", "HEAD", "POST", "PUT", "QUERY", "M-SEARCH", "get"])
  func accepted(_ method: String) throws {
    #expect(try code(method) == nil)
  }

  @Test("a body does not fit HEAD, whose response has none")
  func head() throws {
    #expect(try code("HEAD", body: "{}") == .invalidMethod)
  }

  @Test(
    "has a URL of http or https with a host, all visible ASCII",
    arguments: ["ftp://127.0.0.1/", "file:///etc/passwd", "http:///x", "/graphql"])
  func url(_ url: String) throws {
    #expect(try code("GET", url) == .unsupportedURL)
    #expect(try code("GET", "http://127.0.0.1/a b?c=\u{E9}\r\nX: y") == nil, "Foundation percent-encodes what is not ASCII")
  }

  @Test(
    "only methods without further effect may be sent twice",
    arguments: [("GET", true), ("PUT", true), ("POST", false), ("post", false), ("PATCH", false), ("CHARGE", false)])
  func idempotence(_ method: String, _ isIdempotent: Bool) throws {
    let url = try #require(URL(string: "http://127.0.0.1/"))
    #expect(Carabiner.URLRequest(url: url, httpMethod: method).isIdempotent == isIdempotent)
  }
}
