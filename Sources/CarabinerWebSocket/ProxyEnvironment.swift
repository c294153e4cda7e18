internal import CarabinerWire
internal import Foundation

/// The proxy of the environment for a URL, by the rules of libcurl.
struct ProxyEnvironment: Sendable {
  private let variables: [String: String]

  init(_ variables: [String: String] = ProcessInfo.processInfo.environment) { self.variables = variables }

  /// The name of the variable that names a proxy; nil if there is none for this endpoint.
  func variable(for endpoint: WebSocketEndpoint) -> String? {
    // HTTP_PROXY in capitals is ignored: a client of a CGI program can set it with a header.
    let names = endpoint.usesTLS ? ["https_proxy", "HTTPS_PROXY"] : ["http_proxy"]
    guard let name = (names + ["all_proxy", "ALL_PROXY"]).first(where: { variables[$0]?.isEmpty == false }) else { return nil }
    return isExempt(endpoint.host.lowercased()) ? nil : name
  }

  private func isExempt(_ host: String) -> Bool {
    let list = variables["no_proxy"] ?? variables["NO_PROXY"] ?? ""
    let address = IPAddress(host[...])
    return list.split { $0 == "," || $0.isWhitespace }.contains { entry in
      if let address, Self.network(entry)?.contains(address) == true { return true }
      let name = entry.lowercased().drop { $0 == "." }
      return name == "*" || host == name || host.hasSuffix(".\(name)")
    }
  }

  /// The addresses of an entry such as 10.0.0.0/8; nil if it is a name.
  private static func network(_ entry: Substring) -> IPNetwork? {
    do throws(IPNetwork.Fault) {
      return try IPNetwork(String(entry))
    } catch {
      guard case .hostBits(let network) = error else { return nil }
      return network
    }
  }
}
