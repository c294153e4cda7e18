import Carabiner
import FoundationEssentials
import TestTools
import Testing

@Suite("A response in parts returns its results through the chain")
struct DeferredResponseTests {
  private let first = #"{"data":{"hero":{"name":"R2"}},"hasNext":true}"#
  private let patch =
    #"{"incremental":[{"path":["hero"],"label":"Age","data":{"age":33},"errors":[{"message":"odd"}]}],"hasNext":false}"#
  private let merged = [
    #"{"data":{"hero":{"name":"R2"}}}"#, #"{"data":{"hero":{"name":"R2","age":33}},"errors":[{"message":"odd"}]}"#,
  ]

  private func outcome(
    _ chunks: [String], contentType: String = #"multipart/mixed;boundary="b";deferSpec=20220824"#
  ) async throws -> Outcome {
    try await ApolloClient.testing(ChunkTransport(chunks, contentType: contentType)).outcome(of: HeroQuery())
  }

  @Test("each part gives one merged result, which says whether more follow", .rule("multipart.4"))
  func merging() async throws {
    let outcome = try await outcome([parts(first, patch)])
    #expect(outcome.error == nil)
    #expect(outcome.results == merged)
    #expect(outcome.hasNext == [true, false])
  }

  @Test("parts without end are merged until they reach the limit")
  func endless() async throws {
    let item = #"{"incremental":[{"path":[],"data":{"x":"\#(String(repeating: "x", count: 1000))"}}],"hasNext":true}"#
    let transport = ChunkTransport([parts(first, closed: false)]) { _ in .element(Data("\r\n\r\n\(item)\r\n--b".utf8)) }
    let provider = LimitedParser(limits: ResponseLimits(maximumMergedBytes: 20_000))
    let outcome = try await ApolloClient.testing(transport, provider: provider).outcome(of: HeroQuery())
    #expect(outcome.parsingCode == .responseTooLarge)
    #expect(outcome.results.count == 19)
    #expect("\(outcome.error.map { "\($0)" } ?? "")".contains("raise the limit maximum-body"))
  }

  @Test(
    "a type that says multipart and cannot be read is refused, for the transport sets no limit on its body",
    arguments: ["multipart/", "multipart /mixed", #"multipart/mixed;boundary="b"#])
  func unreadableType(_ type: String) async throws {
    let outcome = try await outcome([#"{"data":{"hero":{"name":"R2"}}}"#], contentType: type)
    #expect(outcome.parsingCode == .unsupportedContentType)
  }

  @Test("a last part that only ends the response is not a result", .rule("multipart.4"))
  func lastAlone() async throws {
    let outcome = try await outcome([parts(first, #"{"hasNext":false}"#)])
    #expect(outcome.error == nil)
    #expect(outcome.results == [merged[0]])
  }

  @Test("chunks of every size give the same results", .rule("multipart.6"), arguments: [1, 2, 3, 7, 64, 1000])
  func chunking(size: Int) async throws {
    let bytes = Array(parts(first, "{}", patch).utf8)
    let chunks = stride(from: 0, to: bytes.count, by: size).map {
      String(decoding: bytes[$0..<min($0 + size, bytes.count)], as: UTF8.self)
    }
    let outcome = try await outcome(chunks)
    #expect(outcome.error == nil)
    #expect(outcome.results == merged)
  }

  @Test("a result is there with its part, before the transport is asked for more")
  func pulledPartByPart() async throws {
    let transport = ChunkTransport([parts(first, closed: false), "\r\n\r\n\(patch)\r\n--b", "--"])
    var results = try ApolloClient.testing(transport).results(of: HeroQuery()).makeAsyncIterator()
    let one = try #require(try await results.next())
    #expect(transport.asks == 1)
    #expect(one.hasNext && one.delivery?.isIncremental == false && one.delivery?.path == nil)
    let two = try #require(try await results.next())
    #expect(transport.asks == 2)
    #expect(two.delivery?.isIncremental == true && two.delivery?.label == "Age")
    #expect(two.delivery?.path == Data(#"["hero"]"#.utf8))
    #expect(two.errors?.map(\.message) == ["odd"])
    #expect(try await results.next() == nil)
  }

  @Test("a typed query reads what came so far, and fetch takes the first result")
  func typed() async throws {
    let client = try ApolloClient.testing(ChunkTransport([parts(first, patch)]))
    let response = try await client.fetch(query: HeroQuery(), cachePolicy: .networkOnly)
    #expect(try response.data?.hero?.name == "R2")
  }

  @Test(
    "a content type without a usable boundary is an error of the response", .rule("multipart.1"),
    arguments: [
      ("multipart/mixed", ResponseParsingError.Code.missingBoundary), ("Multipart/Mixed; deferSpec=20220824", .missingBoundary),
      ("multipart/mixed; boundary=\"\"", .missingBoundary), ("multipart/mixed; boundary=a; boundary=b", .invalidMultipart),
    ])
  func boundary(contentType: String, code: ResponseParsingError.Code) async throws {
    let outcome = try await outcome([parts(first)], contentType: contentType)
    #expect(outcome.parsingCode == code)
    #expect(outcome.results.isEmpty)
  }

  @Test("a body whose boundary never comes is truncated, and says that it never came", .rule("multipart.2"))
  func boundaryNeverFound() async throws {
    let outcome = try await outcome([#"{"data":{}}"#])
    #expect(outcome.parsingCode == .truncated)
    #expect("\(try #require(outcome.error))".contains("never came"))
  }

  @Test("a stream that ends without the close delimiter is truncated; what came before is delivered", .rule("multipart.2"))
  func truncated() async throws {
    let outcome = try await outcome([parts(first, patch, closed: false)])
    #expect(outcome.parsingCode == .truncated)
    #expect(outcome.results == merged)
  }

  @Test(
    "a close delimiter before hasNext:false makes the response incomplete; what came before is delivered", .rule("multipart.4"))
  func neverLast() async throws {
    let outcome = try await outcome([parts(first)])
    #expect(outcome.parsingCode == .incomplete)
    #expect(outcome.results == [merged[0]])
    #expect(try await self.outcome([parts()]).parsingCode == .incomplete)
  }

  @Test(
    "invalid parts are refused with the reason",
    arguments: [
      (#"{"incremental":[{"path":["villain"],"data":{}}],"hasNext":true}"#, ResponseParsingError.Code.invalidPatch),
      (
        #"{"incremental":[{"path":["hero"],"label":"A","data":{}},{"path":["hero"],"label":"A","data":{}}],"hasNext":true}"#,
        .invalidPatch
      ),
      (#"{"incremental":"#, .invalidJSON), ("", .invalidJSON), ("[]", .invalidPatch),
    ])
  func badParts(part: String, code: ResponseParsingError.Code) async throws {
    let outcome = try await outcome([parts(first, part)])
    #expect(outcome.parsingCode == code)
    #expect(outcome.results == [merged[0]])
  }

  @Test("a part that is not JSON is refused, whatever else it is; one without a type is taken for JSON", .rule("multipart.3"))
  func partTypes() async throws {
    let body = "--b\r\nContent-Type: text/html\r\n\r\n<html>\r\n--b--"
    #expect(try await outcome([body]).parsingCode == .unsupportedContentType)
    let untyped = "--b\r\n\r\n{\"data\":{\"hero\":null}}\r\n--b--"
    #expect(try await outcome([untyped]).results == [#"{"data":{"hero":null}}"#])
  }

  @Test("part headers that never end are refused", .rule("multipart.3"))
  func endlessHeaders() async throws {
    let transport = ChunkTransport(["--b\r\n"]) { _ in .element(Data("A: b\r\n".utf8)) }
    let outcome = try await ApolloClient.testing(transport).outcome(of: HeroQuery())
    #expect(outcome.parsingCode == .partTooLarge)
    #expect(transport.asks < 4000)
  }

  @Test("a part that never ends is refused at the limit", .rule("multipart.6"))
  func endlessPart() async throws {
    let transport = ChunkTransport(["--b\r\n\r\n"]) { _ in .element(Data(repeating: 0x20, count: 1000)) }
    let parser = JSONResponseParsingInterceptor(limits: ResponseLimits(maximumPartBytes: 10_000))
    let outcome = try await ApolloClient.testing(transport, provider: ListProvider(parser: parser)).outcome(of: HeroQuery())
    #expect(outcome.parsingCode == .partTooLarge)
    #expect(transport.asks < 14)
  }

  @Test("the close delimiter ends the response although the server does not")
  func endlessEpilogue() async throws {
    let silent = ChunkTransport([parts(first, patch)]) { _ in
      try await Task.sleep(for: .seconds(600))
      return .end
    }
    #expect(try await ApolloClient.testing(silent).outcome(of: HeroQuery()).results == merged)
    let chatty = ChunkTransport([parts(first, patch)]) { _ in .element(Data(repeating: 0x20, count: 1000)) }
    #expect(try await ApolloClient.testing(chatty).outcome(of: HeroQuery()).results == merged)
    #expect(chatty.asks < 100)
  }

  @Test("each result is written to the cache as it comes", .rule("cache-policy.1"))
  func cached() async throws {
    let store = ApolloStore()
    let client = try ApolloClient.testing(ChunkTransport([parts(first, patch)]), store: store)
    for try await _ in try client.results(of: HeroQuery(), cachePolicy: .networkOnly) {}
    let stored = try #require(try await client.fetch(query: HeroQuery(), cachePolicy: .cacheOnly))
    #expect(stored.source == .cache)
    #expect(try stored.data?.hero?.name == "R2")
  }
}

private struct LimitedParser: InterceptorProvider {
  let limits: ResponseLimits

  func responseParser<Operation: GraphQLOperation>(for operation: Operation) -> any ResponseParsingInterceptor {
    JSONResponseParsingInterceptor(limits: limits)
  }
}
