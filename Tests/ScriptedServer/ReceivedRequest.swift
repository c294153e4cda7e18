/// A received request.
public struct ReceivedRequest: Sendable {
  /// The method, for example "POST".
  public let method: String
  /// The request target: "/graphql" or, at a proxy, a whole URL.
  public let target: String
  /// The header fields in order.
  public let headers: [(name: String, value: String)]
  /// The body, read by its Content-Length or in chunks.
  public let body: [UInt8]

  init(head: String, body: [UInt8]) {
    let lines = head.split(separator: "\r\n", omittingEmptySubsequences: true)
    let words = lines.first?.split(separator: " ") ?? []
    method = words.first.map(String.init) ?? ""
    target = words.dropFirst().first.map(String.init) ?? ""
    headers = Self.headers(of: head)
    self.body = body
  }

  /// The first value of a header, by case-insensitive name.
  public func header(_ name: String) -> String? {
    headers.first { $0.name.lowercased() == name.lowercased() }?.value
  }

  static func headers(of head: String) -> [(name: String, value: String)] {
    head.split(separator: "\r\n").dropFirst().compactMap { line in
      guard let colon = line.firstIndex(of: ":") else { return nil }
      return (String(line[..<colon]), String(line[colon...].dropFirst().drop { $0 == " " }))
    }
  }
}
