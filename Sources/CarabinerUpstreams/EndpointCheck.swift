internal import Carabiner
internal import CarabinerManifest
internal import CarabinerWire
internal import FoundationEssentials

/// The active checks of an upstream's endpoints.
struct EndpointCheck: Sendable {
  /// The maximum number of checks of an upstream at the same time.
  private static let maximumConcurrent = 16
  /// The longest response that a query check reads, in bytes.
  private static let maximumBodyBytes = 64 << 10

  private let settings: Manifest.Upstream.HealthCheck

  init(_ settings: Manifest.Upstream.HealthCheck) { self.settings = settings }

  /// Checks each server once.
  func checkAll(_ upstream: Upstream) async {
    let servers = upstream.servers
    await withTaskGroup(of: Void.self) { group in
      for (index, (number, server)) in servers.enumerated() {
        if index >= Self.maximumConcurrent { await group.next() }
        group.addTask {
          let succeeded = await succeeds(server, of: upstream)
          // A cancelled check has no result.
          if !Task.isCancelled { upstream.noteCheck(succeeded, of: number) }
        }
      }
    }
  }

  private func succeeds(_ server: EndpointServer, of upstream: Upstream) async -> Bool {
    let sender: any HTTPTransport =
      server.address.map { AddressedTransport(transport: upstream.transport, address: $0) } ?? upstream.transport
    guard let request = request(to: upstream.endpoints[server.entry], upstream.checkHeaders),
      let response = try? await sender.send(request),
      settings.statuses.contains(where: { $0.contains(response.response.statusCode) })
    else { return false }
    guard case .query = settings.request else { return true }
    return await hasData(response)
  }

  private func request(to endpoint: UpstreamEndpoint, _ headers: HTTPHeaders) -> URLRequest? {
    var request: URLRequest
    switch settings.request {
    case .path(let path):
      guard let url = URL(string: path, relativeTo: endpoint.url)?.absoluteURL else { return nil }
      request = URLRequest(url: url, httpMethod: "GET")
    case .query(let document):
      let body = JSONValue.object(["query": .string(document)]).serialized()
      request = URLRequest(
        url: endpoint.url, headers: ["Content-Type": "application/json", "Accept": "application/json"], httpBody: Data(body))
      // A check is a query, so it may be sent again over another connection.
      request.isIdempotent = true
    }
    request.headers.replace(with: headers)
    request.timeoutInterval = settings.timeout.seconds
    return request
  }

  /// Whether the body is JSON with data.
  private func hasData(_ response: HTTPResponse) async -> Bool {
    var body: [UInt8] = []
    do {
      for try await chunk in response.chunks {
        body += chunk
        if body.count > Self.maximumBodyBytes { return false }
      }
      guard let data = try JSONValue(parsing: body)["data"], case .object = data else { return false }
      return true
    } catch {
      return false
    }
  }
}
