import Carabiner
import CarabinerWire
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

  @Test("a header that is a list has the elements of all its fields, without the space around them")
  func elements() {
    let headers: HTTPHeaders = ["Vary": " a,b ,\tc", "X": "no", "vary": "d"]
    #expect(headers.elements(of: "VARY") == ["a", "b", "c", "d"])
    #expect(headers.elements(of: "Var").isEmpty)
  }

  @Test("fields are found one after another, whatever the length of their name")
  func indices() {
    for length in 1...40 {
      let name = String(repeating: "nameX", count: 8).prefix(length)
      let other = name.dropLast() + "!"
      let headers: HTTPHeaders = ["\(other)": "1", "\(name.uppercased())": "2", "\(name)y": "3", "\(name)": "4"]
      #expect(headers.firstIndex(of: String(name)) == 1)
      #expect(headers.firstIndex(of: String(name), from: 2) == 3)
      #expect(headers.firstIndex(of: String(name), from: 4) == nil)
      #expect(headers.contains(name: String(other)) && !headers.contains(name: "\(name)z"))
    }
  }

  @Test("fields that a peer sent keep their bytes through changes and copies; their text is repaired")
  func received() {
    for (letter, value) in [(UInt8(ascii: "a"), "plain"), (0xFF, "pl\u{FFFD}in")] {
      var bytes = Array("n: plain, o: x".utf8)
      bytes[5] = letter
      var headers: HTTPHeaders = ["First": "0"]
      headers.append(received: bytes.span, count: 2) { $0 == 0 ? (0..<1, 3..<8) : (10..<11, 13..<14) }
      #expect(headers.fields.map(\.name) == ["First", "n", "o"] && headers.fields.map(\.value) == ["0", value, "x"])
      headers["First"] = nil
      headers["o"] = "y"
      var copies = [headers, HTTPHeaders(), HTTPHeaders(), ["Other": "1"]]
      copies[1].replace(with: headers)
      copies[2].append(fieldOf: headers, at: 0)
      copies[3].append(contentsOf: headers)
      for copy in copies {
        let place = copy.firstIndex(of: "n").map { copy.valueRange(at: $0) }
        #expect(place.map { Array(copy.bytes[$0]) } == Array(bytes[3..<8]))
        let repaired = Array(copy.repaired.bytes.prefix(copy.repaired.byteCount))
        #expect(String(validating: repaired, as: UTF8.self) != nil && copy.repaired["n"] == value)
      }
    }
  }

  @Test(
    "fields that Connection names are not passed on, nor are those that are not selected",
    arguments: [
      (["x-hop"], ["X-Tenant", "Cookie"]), (["Keep-Alive, X-HOP , cookie", "close"], ["X-Tenant"]),
      (["keep-alive"], ["X-Hop", "X-Tenant", "Cookie"]),
      (["CLOSE"], ["X-Hop", "X-Tenant", "Cookie"]), (["close", "x-tenant"], ["X-Hop", "Cookie"]),
      ([], ["X-Hop", "X-Tenant", "Cookie"]),
    ])
  func passed(connection: [String], expected: [String]) {
    var headers: HTTPHeaders = ["X-Hop": "1", "X-Tenant": "2", "Cookie": "a=b", "Other": "3", "Host": "x"]
    for value in connection { headers.add(name: "Connection", value: value) }
    var passed: [String] = []
    headers.forEach(passedBy: HeaderSelection(["x-*", "cookie", "connection", "host"])) { passed.append(headers[$0].name) }
    #expect(passed == expected)
  }

  @Test("fields of one name are joined in the place of the first, with all bytes")
  func joined() {
    var headers: HTTPHeaders = ["Cookie": "a=1", "X": "0", "cookie": "b=2"]
    headers.append(received: "COOKIE".utf8Span.span, [0x63, 0x3D, 0xFC].span)
    headers.joinFields(of: "cookie", by: "; ")
    #expect(headers.map(\.name) == ["Cookie", "X"])
    #expect(Array(headers.bytes[headers.valueRange(at: 0)]) == Array("a=1; b=2; c=".utf8) + [0xFC])
    headers.joinFields(of: "x", by: "; ")
    headers.joinFields(of: "none", by: "; ")
    #expect(headers["X"] == "0" && headers.count == 2)
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

  @Test("additional headers replace the defaults of the same name", .rule("request.3"))
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

  @Test("the body's members are sorted, and the Accept header says what can be read", .rule("request.1"))
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
    #expect(request.headers["Accept"] == "application/graphql-response+json,application/json")
  }
}
