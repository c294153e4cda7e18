internal import CarabinerPlugin

/// Reads responses of type text/plain as {"data":{"text":…}} and leaves all others to the next parser.
///
/// Use it as the start of your own parser: `onHead` selects the responses, `onChunk` collects the body, `onEnd` converts it into a
/// GraphQL response. Chunks may end anywhere in the body. There is one instance per manifest entry. Hooks of different calls run at the
/// same time on the host's threads, and `state` belongs to one call. An error in a hook fails its call.
struct Interceptor: Parser.Stage, Parser.OnChunk, Parser.OnEnd {
  // It must match the note in Sources/Note/note.c.
  static let identity = PluginIdentity(id: "org.example.my-plugin", version: "1.0.0")
  // Hooks can read only the parts named here.
  static let parser = StageParts(needs: [.headers, .chunk])

  /// The largest body that is kept in memory.
  private static let maximumBytes = 16 << 20

  /// The body so far. The kit creates a new one for each response, and frees it when the call ends.
  struct Body: CallState {
    var bytes: [UInt8] = []
  }

  init(configuration: PluginConfiguration, host: PluginHost) {}

  /// `.continue` takes the response, `.drop` leaves it to the next parser.
  func onHead(_ call: Parser.Call, _ head: borrowing Head, _ state: inout Body) -> Verdict {
    guard head.status / 100 == 2, let type = head.header("Content-Type")?.lowercased() else { return .drop }
    return type == "text/plain" || type.hasPrefix("text/plain;") || type.hasPrefix("text/plain ") ? .continue : .drop
  }

  /// Called for each chunk of the body.
  func onChunk(_ call: Parser.Call, _ chunk: borrowing Chunk, _ state: inout Body) throws -> Verdict {
    guard chunk.count <= Self.maximumBytes - state.bytes.count else { throw PluginFailure("the text is longer than 16 MiB") }
    chunk.append(to: &state.bytes)
    return .continue
  }

  /// The body is complete.
  func onEnd(_ call: Parser.Call, _ state: inout Body) throws -> Verdict {
    guard let text = String(validating: state.bytes, as: UTF8.self) else { throw PluginFailure("the text is not UTF-8") }
    try call.emit(#"{"data":{"text":""# + Self.escaped(text) + #""}}"#)
    call.log(.info, "read a text")
    return .continue
  }

  /// Escapes a text for a JSON string.
  private static func escaped(_ text: String) -> String {
    let digits = Array("0123456789abcdef".utf8)
    var out: [UInt8] = []
    out.reserveCapacity(text.utf8.count)
    for byte in text.utf8 {
      if byte >= 0x20, byte != UInt8(ascii: "\""), byte != UInt8(ascii: "\\") {
        out.append(byte)
      } else {
        out += Array("\\u00".utf8) + [digits[Int(byte >> 4)], digits[Int(byte & 15)]]
      }
    }
    return String(decoding: out, as: UTF8.self)
  }
}
