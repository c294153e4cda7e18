import Carabiner
import FoundationEssentials
import TestTools
import Testing

@Suite("Header fields")
struct HTTPHeadersTests {
  @Test("names are case-insensitive, order and duplicates are kept")
  func namesAndOrder() {
    var headers: HTTPHeaders = ["A": "1", "b": "2", "a": "3"]
    #expect(headers["a"] == "1")
    #expect(headers.values(for: "A") == ["1", "3"])
    headers["A"] = "9"
    #expect(headers.fields.map(\.name) == ["A", "b"])
    #expect(headers["a"] == "9")
    headers["B"] = nil
    #expect(headers.fields.map(\.name) == ["A"])
  }

  @Test("random changes leave what a list of names and values has", arguments: 0..<20)
  func randomChanges(seed: UInt64) {
    var random = SeededGenerator(seed: seed)
    var headers = HTTPHeaders()
    var model: [HTTPHeaders.Field] = []
    func isSame(_ left: String, _ right: String) -> Bool { left.lowercased() == right.lowercased() }
    for _ in 0..<200 {
      let name = ["a", "A", "Name", "nAME", "X-Longer-Name", "Bücher"].randomElement(using: &random) ?? ""
      let letter = ["v", "ü", ""].randomElement(using: &random) ?? ""
      let value = String(repeating: letter, count: Int.random(in: 0..<90, using: &random))
      switch Int.random(in: 0..<6, using: &random) {
      case 0:
        headers[name] = value
        if let first = model.firstIndex(where: { isSame($0.name, name) }) {
          model[first].value = value
          let rest = model[(first + 1)...].filter { !isSame($0.name, name) }
          model = model[...first] + rest
        } else {
          model.append(.init(name: name, value: value))
        }
      case 1:
        headers.remove(name)
        model.removeAll { isSame($0.name, name) }
      case 2:
        let other: HTTPHeaders = [name: value, "B": "1", "b": "2"]
        headers.replace(with: other)
        model.removeAll { isSame($0.name, name) || isSame($0.name, "b") }
        model += other.fields
      default:
        headers.add(name: name, value: value)
        model.append(.init(name: name, value: value))
      }
      #expect(headers.fields == model)
      #expect(headers == HTTPHeaders(model) && headers.hashValue == HTTPHeaders(model).hashValue)
      #expect(headers["NAME"] == model.first { isSame($0.name, "name") }?.value)
      #expect(headers.values(for: name) == model.filter { isSame($0.name, name) }.map(\.value))
    }
  }

  @Test("lists that differ in one byte, or in where a name ends, are not equal, and a copy keeps its fields")
  func equality() {
    let headers: HTTPHeaders = ["ab": "c", "d": ""]
    #expect(headers != ["a": "bc", "d": ""] && headers != ["ab": "c"] && headers != ["ab": "C", "d": ""] && headers != [:])
    var other = headers
    other["ab"] = "longer"
    other.add(name: "e", value: "f")
    #expect(headers.fields.map(\.value) == ["c", ""] && other.fields.map(\.value) == ["longer", "", "f"])
    // Memory that was used before has no meaning.
    other.removeAllKeepingMemory()
    #expect(other == [:] && other.isEmpty && other.hashValue == HTTPHeaders().hashValue)
  }

  @Test("E3: additional headers replace the defaults of the same name")
  func additionalHeaders() async throws {
    let transport = RecordingTransport(json: heroJSON)
    let client = try ApolloClient.testing(transport)
    _ = try await client.fetch(
      query: HeroQuery(), cachePolicy: .networkOnly,
      configuration: RequestConfiguration(additionalHeaders: ["ACCEPT": "application/json", "X-Team": "books"]))
    let request = try #require(transport.requests.first)
    #expect(request.headers.values(for: "accept") == ["application/json"])
    #expect(request.headers["x-team"] == "books")
    #expect(request.headers["content-type"] == "application/json")
  }

  @Test("E1: the body's members are sorted, and the Accept header says what can be read")
  func wireFormat() async throws {
    let transport = RecordingTransport(json: heroJSON)
    _ = try await ApolloClient.testing(transport).fetch(
      query: HeroQuery(), cachePolicy: .networkOnly,
      configuration: RequestConfiguration(wireOptions: WireOptions(completesDocuments: false)))
    let request = try #require(transport.requests.first)
    #expect(request.httpMethod == "POST")
    #expect(
      request.httpBody.map { String(decoding: $0, as: UTF8.self) }
        == #"{"operationName":"Hero","query":"query Hero { hero { name } }","variables":{}}"#)
    #expect(
      request.headers["Accept"]
        == "multipart/mixed;deferSpec=20220824,application/graphql-response+json,application/json")
  }
}
