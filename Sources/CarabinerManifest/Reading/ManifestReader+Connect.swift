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
    guard let object = object(json, pointer, knowing: ["codec", "get", "compress-from", "timeout"]) else { return }
    if manifest.callProtocol == .graphQL {
      warn(
        .unusedSetting, pointer, "connect does nothing with protocol: graphql; write protocol: connect or grpc-web, or remove it")
    }
    for (key, value) in object {
      let place = pointer.appending(key)
      switch key {
      case "codec": manifest.connect.codec = connectCodec(value, place) ?? manifest.connect.codec
      case "get": manifest.connect.get = connectGET(value, place) ?? manifest.connect.get
      case "compress-from": manifest.connect.compressFrom = bytes(value, place)
      case "timeout": manifest.connect.timeout = duration(value, place)
      default: break
      }
    }
    if manifest.callProtocol == .grpcWeb, manifest.connect.get != .never {
      warn(.unusedSetting, pointer.appending("get"), "get does nothing with protocol: grpc-web, which has no GET; remove it")
    }
  }

  private mutating func connectCodec(_ json: JSONValue, _ pointer: JSONPointer) -> Manifest.Connect.Codec? {
    guard let found = json.string.flatMap(Manifest.Connect.Codec.init(rawValue:)) else {
      problem(
        .invalidValue, pointer,
        "\(json) is not a codec; use \(Manifest.Connect.Codec.allCases.map(\.rawValue).joined(separator: " or "))")
      return nil
    }
    return found
  }

  private mutating func connectGET(_ json: JSONValue, _ pointer: JSONPointer) -> Manifest.Connect.GET? {
    switch json.string {
    case "never": .never
    case "always": .always
    default: bytes(json, pointer).map { .upTo($0) }
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
