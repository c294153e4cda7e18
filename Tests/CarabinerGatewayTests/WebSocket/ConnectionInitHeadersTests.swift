import Carabiner
import CarabinerWire
import Testing

@testable import CarabinerGateway

@Suite("Header fields of connection_init")
struct ConnectionInitHeadersTests {
  /// The header fields of an operation after a handshake and a first message.
  private func fields(
    _ handshake: HTTPHeaders, _ payload: String, allowed: [String], limits: GatewayLimits = GatewayLimits()
  ) async throws -> HTTPHeaders? {
    let runner = ScriptedRunner(#"{"data":{}}"#, connectionInitHeaders: allowed)
    let socket = try await SocketChannel(runner, limits: limits, headers: handshake)
    try await socket.send(#"{"type":"connection_init","payload":\#(payload)}"#)
    let answer = try await socket.message()
    guard answer["type"] == "connection_ack" else {
      #expect(answer == ["close": 4400])
      return nil
    }
    try await socket.send(#"{"type":"subscribe","id":"1","payload":{"query":"{ a }"}}"#)
    #expect(try await socket.message()["type"] == "next")
    return runner.headers.first
  }

  @Test("a field that the handshake has is never replaced", arguments: ["X-User", "x-user", "X-USER"])
  func present(_ name: String) async throws {
    let fields = try await fields(
      ["X-User": "alice", "Authorization": "Bearer alice"],
      #"{"headers":{"\#(name)":"mallory","authorization":"Bearer mallory"}}"#, allowed: ["x-user", "authorization"])
    #expect(fields?.values(for: "x-user") == ["alice"])
    #expect(fields?.values(for: "authorization") == ["Bearer alice"])
  }

  @Test("only fields that the manifest lists are added")
  func listed() async throws {
    let payload = #"{"headers":{"Authorization":"Bearer t","X-App-Name":"a","X-User":"mallory","Host":"h","Content-Length":"1"}}"#
    let fields = try await fields(["X-Real-IP": "1"], payload, allowed: ["authorization", "x-app-*", "host", "content-length"])
    #expect(fields?.map(\.name) == ["X-Real-IP", "Authorization", "X-App-Name"])
    #expect(try await self.fields([:], payload, allowed: []).map(\.isEmpty) == true)
  }

  @Test("of two fields whose names differ only in case the first is added")
  func spellings() async throws {
    let fields = try await fields([:], #"{"headers":{"X-User":"first","x-user":"second"}}"#, allowed: ["x-user"])
    #expect(fields?.values(for: "x-user") == ["first"])
  }

  @Test("more names than the limit of a head close the connection", arguments: [101, 80_000])
  func many(_ count: Int) async throws {
    let names = (0..<count).map { #""x\#($0)":"""# }.joined(separator: ",")
    #expect(try await fields([:], "{\"headers\":{\(names)}}", allowed: ["x*"]) == nil)
  }

  @Test("handshake and first message together have no more fields and bytes than a head may have")
  func together() async throws {
    var limits = GatewayLimits()
    (limits.maximumHeadFields, limits.maximumHeadBytes) = (3, 100)
    let handshake: HTTPHeaders = ["X-A": "1", "X-B": "2"]
    #expect(try await fields(handshake, #"{"headers":{"x-c":"3"}}"#, allowed: ["x-*"], limits: limits)?.count == 3)
    #expect(try await fields(handshake, #"{"headers":{"x-c":"3","x-d":"4"}}"#, allowed: ["x-*"], limits: limits) == nil)
    let long = String(repeating: "v", count: 100)
    #expect(try await fields(handshake, #"{"headers":{"x-c":"\#(long)"}}"#, allowed: ["x-*"], limits: limits) == nil)
  }

  @Test(
    "a field that is not a string, or not valid in a head, closes the connection",
    arguments: [#"{"x":1}"#, #"{"x":null}"#, #"{"x":"a\r\nb: c"}"#, #"{"a b":"c"}"#, #"{"":"c"}"#])
  func malformed(_ headers: String) async throws {
    #expect(try await fields([:], "{\"headers\":\(headers)}", allowed: []) == nil)
  }

  @Test(
    "a payload without headers adds none",
    arguments: ["null", "{}", #"{"headers":null}"#, #"{"headers":[1]}"#, #"{"a":{"headers":{"x":1}}}"#])
  func none(_ payload: String) async throws {
    #expect(try await fields(["X-A": "1"], payload, allowed: ["*"])?.count == 1)
  }
}
