import CarabinerWire
import Foundation
import TestTools

extension StrawberryServer {
  func url(_ path: String = "/graphql", scheme: String = "ws", host: String = "127.0.0.1") throws -> URL {
    guard let url = URL(string: "\(scheme)://\(host):\(port)\(path)") else { throw CocoaError(.fileNoSuchFile) }
    return url
  }

  /// The numbers of running and ended endless subscriptions at the server.
  func subscriptions() async throws -> (running: Int?, ended: Int?) {
    let asked = try await ToolRun(URL(filePath: "/usr/bin/curl"), ["-sS", "http://127.0.0.1:\(port)/subscriptions"])
    let json = try JSONValue(parsing: asked.output)
    return (json["running"]?.int, json["ended"]?.int)
  }
}
