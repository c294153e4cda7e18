internal import CarabinerABI
internal import CarabinerWire

extension ManifestReader {
  mutating func readProtocol(_ json: JSONValue, _ pointer: JSONPointer) {
    guard let name = text(json, pointer) else { return }
    guard let found = Manifest.CallProtocol(rawValue: name) else {
      let known = Manifest.CallProtocol.allCases.map(\.rawValue)
      return problem(
        .invalidValue, pointer,
        "\(name) is not a protocol\(Suggestion.text(for: name, among: known)); use \(known.joined(separator: ", "))")
    }
    manifest.callProtocol = found
  }

  mutating func readConnect(_ json: JSONValue, _ pointer: JSONPointer) {
    guard let connect = Manifest.Connect.fields.read(json, pointer, &self) else { return }
    manifest.connect = connect
    if manifest.callProtocol == .graphQL {
      warn(
        .unusedSetting, pointer, "connect does nothing with protocol: graphql; write protocol: connect or grpc-web, or remove it")
    }
    if manifest.callProtocol == .grpcWeb, manifest.connect.get != .never {
      warn(.unusedSetting, pointer.appending("get"), "get does nothing with protocol: grpc-web, which has no GET; remove it")
    }
  }

  /// Refuses a list that only GraphQL has. Returns whether it is refused.
  mutating func refusesList(_ list: StageKind, _ pointer: JSONPointer) -> Bool {
    guard manifest.callProtocol != .graphQL, list != .http else { return false }
    problem(.invalidValue, pointer, "\(noGraphQLStages); remove the list, calls pass the http list only")
    return true
  }

  /// Refuses a built-in stage and its settings, which are for GraphQL.
  mutating func refuseBuiltIn(_ name: String, _ pointer: JSONPointer) {
    problem(.invalidValue, pointer, "\(noGraphQLStages); remove \(name)")
  }

  private var noGraphQLStages: String { "protocol: \(manifest.callProtocol.rawValue) has no GraphQL stages" }
}

extension Manifest.Connect {
  static let fields = Fields(Self()) {
    $0.key("codec", \.codec, .word("is not a codec; use"), "The notation of messages.")
    $0.key(
      "get", \.get, .get,
      "The messages that are sent by GET, if a call has no side effects: never, always, or up to this size. gRPC-Web has no GET.")
    $0.key(
      "compress-from", \.compressFrom, .size,
      "The size from which messages are compressed with gzip. Without it they are not.")
    $0.key(
      "timeout", \.timeout, .duration,
      "The time limit of a call, interceptors included. The server receives it too. Unlimited without it.")
  }
}

extension ValueKind<Manifest.Connect.GET> {
  fileprivate static var get: Self {
    Self(
      #""oneOf": [{"enum": ["never", "always"]}, {\#(ValueKind<Int>.size.schema)}]"#,
      json: { get in
        switch get {
        case .never: "never"
        case .always: "always"
        case .upTo(let bytes): .string(ByteSizeText.print(bytes))
        }
      },
      read: { reader, json, place in
        switch json.string {
        case "never": .never
        case "always": .always
        default: reader.bytes(json, place).map { .upTo($0) }
        }
      })
  }
}
