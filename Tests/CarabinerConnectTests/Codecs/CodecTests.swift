import CarabinerConnect
import FoundationEssentials
import ScriptedServer
import SwiftProtobuf
import TestTools
import Testing

@Suite("Codecs")
struct CodecTests {
  @Test("no bytes are an empty message in binary, and not JSON", .rule("connect.47"))
  func empty() throws {
    let message: Google_Protobuf_SourceContext = try ProtoCodec().deserialize(source: Data())
    #expect(message == Google_Protobuf_SourceContext())
    #expect(throws: (any Error).self) {
      let _: Google_Protobuf_SourceContext = try JSONCodec().deserialize(source: Data())
    }
    #expect(throws: (any Error).self) { let _: Text = try JSONCodec().deserialize(source: Data()) }
  }

  @Test("an empty body of a unary call is a message or an error", .rule("connect.47"), arguments: ["proto", "json"])
  func emptyBody(name: String) async throws {
    let codec: any Codec = if name == "proto" { ProtoCodec() } else { JSONCodec() }
    let service = try Service(codec: codec) { _, peer in try peer.respond(headers: "Content-Type: application/\(name)\r\n") }
    let response = await service.call()
    #expect(response.code == (name == "proto" ? .ok : .internalError) && response.error?.code ?? .ok == response.code)
    if name == "proto" { #expect(response.message == Text()) }
  }

  @Test("unknown members of a JSON message are ignored", .rule("connect.48"))
  func unknownMembers() throws {
    let source = #"{"odd": {"a": [1, null]}, "fileName": "a.proto", "another": "x"}"#
    let message: Google_Protobuf_SourceContext = try JSONCodec().deserialize(source: Data(source.utf8))
    #expect(message.fileName == "a.proto")
  }

  @Test("equal messages have equal bytes", .rule("connect.35"), arguments: ["proto", "json"])
  func deterministic(name: String) throws {
    let codec: any Codec = if name == "proto" { ProtoCodec() } else { JSONCodec() }
    func message(_ keys: some Sequence<Int>) -> Google_Protobuf_Struct {
      Google_Protobuf_Struct(fields: keys.reduce(into: [:]) { $0["key \($1)"] = Google_Protobuf_Value(numberValue: Double($1)) })
    }
    let bytes = try codec.deterministicallySerialize(message: message(0..<100))
    #expect(try codec.deterministicallySerialize(message: message((0..<100).reversed())) == bytes)
    let read: Google_Protobuf_Struct = try codec.deserialize(source: bytes)
    #expect(read == message(0..<100))
  }
}
