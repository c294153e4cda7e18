import CarabinerWire
import Testing

@testable import CarabinerDemoServer

/// The checks of a request, and the choice of its response format.
@Suite("Demo server: tokens, signatures, forms and media types")
struct DoorTests {
  @Test("a token is valid for its lifetime")
  func lifetime() {
    let mint = TokenMint(terms: TokenMint.Terms(lifetime: 10))
    let start = ContinuousClock.now
    let token = mint.issue(at: start)
    #expect(mint.accept(authorization: "Bearer \(token)", at: start + .seconds(9)))
    #expect(mint.accept(authorization: "bearer  \(token)", at: start + .seconds(9)))
    #expect(!mint.accept(authorization: "Bearer \(token)", at: start + .seconds(10)))
    #expect(!mint.accept(authorization: "Bearer \(token)", at: start + .seconds(9)))
    #expect(mint.issued == 1)
  }

  @Test("a token is valid for a number of requests", arguments: [1, 3])
  func uses(count: Int) {
    let mint = TokenMint(terms: TokenMint.Terms(uses: count))
    let token = mint.issue()
    for _ in 0..<count { #expect(mint.accept(authorization: "Bearer \(token)")) }
    #expect(!mint.accept(authorization: "Bearer \(token)"))
  }

  @Test("other texts are not tokens", arguments: [nil, "", "Bearer", "Bearer x", "Basic x", "x"] as [String?])
  func noToken(authorization: String?) {
    let mint = TokenMint()
    _ = mint.issue()
    #expect(!mint.accept(authorization: authorization))
  }

  // Computed with Python's hmac module.
  private static let signature = "v1=8a8a7fd11ce1b98a0b97f8e58da065120250b441c91eca96e950fe7985ac6115"
  private static let body = Array(#"{"query":"{ a }"}"#.utf8)

  private func refusal(
    method: String = "POST", target: String = "/graphql?a=1", timestamp: String? = "1700000000",
    signature: String? = Self.signature,
    body: [UInt8] = Self.body, now: Int64 = 1_700_000_000
  ) -> String? {
    do throws(MessageSignature.RequestRefusal) {
      try MessageSignature(key: "käy").verify(
        method: method, target: target, timestamp: timestamp, signature: signature, body: body, now: now)
      return nil
    } catch {
      return error.message
    }
  }

  @Test("a signed request is accepted while its timestamp is recent")
  func goodSignature() {
    #expect(refusal() == nil)
    #expect(refusal(now: 1_700_000_300) == nil)
    #expect(refusal(signature: Self.signature.uppercased().replacing("V1", with: "v1")) == nil)
    #expect(
      MessageSignature(key: "käy").signature(ofStatus: 200, body: Array(#"{"data":null}"#.utf8))
        == "v1=e6546df505d683bff06d07699f12905f113d4b5e509c0746e5a6eb0e38c58ec2")
  }

  @Test("a request that was changed, is too old or is not signed is refused")
  func badSignature() {
    #expect(refusal(method: "PUT")?.contains("is wrong") == true)
    #expect(refusal(target: "/graphql")?.contains("is wrong") == true)
    #expect(refusal(timestamp: "1700000001")?.contains("is wrong") == true)
    #expect(refusal(body: [])?.contains("is wrong") == true)
    #expect(refusal(now: 1_700_000_301)?.contains("300 seconds") == true)
    #expect(refusal(timestamp: "now")?.contains("300 seconds") == true)
    #expect(refusal(signature: "v1=00")?.contains("64 hexadecimal digits") == true)
    #expect(refusal(signature: Self.signature.replacing("=", with: "=g").dropLast().description)?.contains("hexadecimal") == true)
    #expect(refusal(signature: nil)?.contains("not signed") == true)
    #expect(refusal(timestamp: nil)?.contains("not signed") == true)
  }

  @Test("forms are parsed as browsers encode them")
  func forms() throws {
    let form = try #require(FormFields(Array("a=1&b=%C3%BC+%2B&c&=d&e=f=g".utf8)))
    #expect(form["a"] == "1")
    #expect(form["b"] == "ü +")
    #expect(form["c"] == "")
    #expect(form[""] == "d")
    #expect(form["e"] == "f=g")
    #expect(form["x"] == nil)
  }

  @Test("a malformed form is refused", arguments: ["a=%", "a=%2", "a=%GG", "a=%FF", "a=1&a=2", "%=1"])
  func malformedForms(text: String) {
    #expect(FormFields(Array(text.utf8)) == nil)
  }

  @Test(
    "the Accept header decides the format",
    arguments: [
      (nil, .json), ("*/*", .json), ("application/json", .json), ("application/graphql-response+json", .graphQLResponse),
      ("application/cbor", .cbor), ("application/json, application/cbor", .json),
      ("application/json;q=0.5, application/cbor", .cbor), ("APPLICATION/CBOR", .cbor),
      ("multipart/mixed;deferSpec=20220824,application/graphql-response+json,application/json", .graphQLResponse),
      ("multipart/mixed;deferSpec=20220824", .json), ("text/html, */*;q=0.1", .json), ("text/html", nil), ("", nil),
      ("application/cbor;q=0, application/json", .json), ("application/json;q=x", nil),
      ("text/html;a=\"x,application/cbor\", application/graphql-response+json", .graphQLResponse),
    ] as [(String?, ResponseFormat?)])
  func formats(accept: String?, format: ResponseFormat?) {
    #expect(Acceptance(accept: accept)?.format == format)
  }

  @Test("parts are sent to clients that accept their version")
  func parts() {
    let both = Acceptance(accept: "multipart/mixed; DeferSpec=\"20220824\", multipart/mixed;subscriptionSpec=1.0")
    #expect(both?.takesDeferred == true)
    #expect(both?.takesSubscription == true)
    let neither = Acceptance(accept: "multipart/mixed;deferSpec=1;subscriptionSpec=2, */*")
    #expect(neither?.takesDeferred == false)
    #expect(neither?.takesSubscription == false)
  }
}
