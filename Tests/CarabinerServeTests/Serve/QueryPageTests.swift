import CarabinerDigest
import CarabinerWire
import CommandTools
import Foundation
import Testing

@Suite("carabiner serve: the query page")
struct QueryPageTests {
  private static let browser = "Accept: text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8"

  private func gateway(_ arguments: [String] = []) throws -> ServeProcess {
    let folder = try StoreFolder()
    _ = try folder.write("carabiner: 1\n", to: "chain.yaml")
    return try ServeProcess(folder, endpoint: "http://127.0.0.1:9/graphql", arguments)
  }

  @Test("a browser gets it if it is switched on, and a client gets what it always gets")
  func served() throws {
    let gateway = try gateway(["--query-page"])
    let page = try RawAnswer(gateway.endpoint, headers: [Self.browser])
    #expect(page.status == 200)
    #expect(page.head.contains("Content-Type: text/html; charset=utf-8"))
    #expect(page.text.hasPrefix("<!doctype html>"))
    for accept in ["application/json", "*/*", "text/html;q=0, application/json"] {
      let answer = try RawAnswer(gateway.endpoint, headers: ["Accept: \(accept)"])
      #expect(answer.status == 400 && answer.text.contains("CSRF"), "\(accept): \(answer.text)")
    }
    #expect(try RawAnswer("\(gateway.origin)/other", headers: [Self.browser]).status == 404)
    let post = try RawAnswer(gateway.endpoint, body: #"{"query":"{ a }"}"#, headers: [Self.browser])
    #expect(post.head.contains { $0.hasPrefix("Content-Type: application/json") }, "\(post.head)")
  }

  @Test("the page is off by default")
  func off() throws {
    let gateway = try gateway()
    let answer = try RawAnswer(gateway.endpoint, headers: [Self.browser])
    #expect(answer.status == 400 && !answer.text.contains("<"))
  }

  @Test("it runs nothing but what is in it, and refers to nothing outside")
  func policy() throws {
    let gateway = try gateway(["--query-page"])
    let page = try RawAnswer(gateway.endpoint, headers: [Self.browser])
    let policy = try #require(page.head.first { $0.hasPrefix("Content-Security-Policy: ") })
    #expect(policy.contains("default-src 'none'") && policy.contains("frame-ancestors 'none'") && !policy.contains("unsafe"))
    for element in ["script", "style"] {
      let parts = page.text.components(separatedBy: "<\(element)>")
      try #require(parts.count == 2, "one \(element), without attributes")
      let inner = parts[1].components(separatedBy: "</\(element)>")[0]
      let hash = Data(Digest.sha256(Array(inner.utf8))).base64EncodedString()
      #expect(policy.contains("\(element)-src 'sha256-\(hash)'"), "\(policy)")
    }
    for reference in ["://", "src=", "href=", "url(", "@import", "innerHTML", " on"] where page.text.contains(reference) {
      #expect(reference == " on" && page.text.firstMatch(of: /<[^>]* on[a-z]+=/) == nil, "\(reference) is in the page")
    }
  }
}
