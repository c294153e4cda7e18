internal import CarabinerPlugin

/// Reads responses of type text/plain as {"data":{"text":…}} and leaves all others to the next parser.
///
/// It is where a parser of your own begins: `onHead` says which responses are yours, `onChunk` collects, `onEnd` turns what was
/// collected into a GraphQL response. Chunks are cut anywhere, so nothing is decided by where one ends. One instance for each entry in a
/// manifest; hooks of different calls run at once, on the host's threads, and `state` belongs to one call. What a hook throws fails its
/// call.
struct Interceptor: Parser.Stage, Parser.OnChunk, Parser.OnEnd {
  // The same as in the note, Sources/Note/note.c.
  static let identity = PluginIdentity(id: "org.example.my-plugin", version: "1.0.0")
  // What is not needed cannot be read.
  static let parser = StageParts(needs: [.headers, .chunk])

  /// What a server may make us keep.
  private static let maximumBytes = 16 << 20

  /// The body so far. The kit makes a fresh one for each response, and it goes when the call is over.
  struct Body: CallState {
    var bytes: [UInt8] = []
  }

  init(configuration: PluginConfiguration, host: PluginHost) {}

  /// `.continue` takes the response, `.drop` leaves it to the next parser.
  func onHead(_ call: Parser.Call, _ head: borrowing Head, _ state: inout Body) -> Verdict {
    guard head.status / 100 == 2, let type = head.header("Content-Type")?.lowercased() else { return .drop }
    return type == "text/plain" || type.hasPrefix("text/plain;") || type.hasPrefix("text/plain ") ? .continue : .drop
  }

  /// For each piece of the body.
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

  /// Text within a JSON string.
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
