internal import Carabiner
internal import CarabinerWire

extension ManifestReader {
  private static let webSocketKeys = [
    "url", "protocol", "connection-init", "acknowledgement-timeout", "ping-interval", "maximum-message", "reconnects",
  ]

  mutating func webSocket(_ json: JSONValue, _ pointer: JSONPointer) -> Manifest.WebSocket? {
    guard let object = object(json, pointer, knowing: Self.webSocketKeys) else { return nil }
    guard let url = object["url"] else {
      problem(.missing, pointer, "the url is missing; write the URL of the WebSocket, as in url: wss://host/graphql")
      return nil
    }
    var webSocket = Manifest.WebSocket(url: webSocketURL(url, pointer.appending("url")) ?? "")
    for (key, value) in object {
      let place = pointer.appending(key)
      switch key {
      case "protocol": webSocket.webSocketProtocol = webSocketProtocol(value, place) ?? webSocket.webSocketProtocol
      case "connection-init": webSocket.connectionInit = connectionInit(value, place)
      case "acknowledgement-timeout":
        webSocket.acknowledgementTimeout = duration(value, place) ?? webSocket.acknowledgementTimeout
      case "ping-interval": webSocket.pingInterval = duration(value, place)
      case "maximum-message": webSocket.maximumMessageBytes = bytes(value, place) ?? webSocket.maximumMessageBytes
      case "reconnects": webSocket.reconnects = count(value, place, 0...1000) ?? webSocket.reconnects
      default: break
      }
    }
    return webSocket
  }

  private mutating func webSocketURL(_ json: JSONValue, _ pointer: JSONPointer) -> String? {
    guard let text = reference(json, pointer) else { return nil }
    guard text.hasPrefix("ws://") || text.hasPrefix("wss://") || text.contains("${") else {
      problem(
        .invalidValue, pointer,
        "\(PrintableURL(text).description.debugDescription) is not a WebSocket URL; write a URL that begins with wss:// or ws://")
      return nil
    }
    return text
  }

  private mutating func webSocketProtocol(_ json: JSONValue, _ pointer: JSONPointer) -> WebSocketProtocol? {
    guard let found = json.string.flatMap(WebSocketProtocol.init(rawValue:)) else {
      problem(
        .invalidValue, pointer,
        "\(json) is not a protocol; use \(WebSocketProtocol.allCases.map(\.rawValue).joined(separator: " or "))")
      return nil
    }
    return found
  }

  private mutating func connectionInit(_ json: JSONValue, _ pointer: JSONPointer) -> JSONValue? {
    guard case .object = json else {
      wrongType(json, pointer, "an object")
      return nil
    }
    for (place, text) in json.texts(at: pointer) { checkReferences(text, place) }
    return json
  }
}
