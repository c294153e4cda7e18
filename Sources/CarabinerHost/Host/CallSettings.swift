package import Carabiner
package import CarabinerManifest
package import Foundation

/// The settings of a manifest for calls of Connect and gRPC-Web, with the transport that sends them.
package struct CallSettings: Sendable {
  /// The URL to which the names of services and methods are appended.
  package let endpoint: Foundation.URL
  /// The header fields of each call.
  package let headers: HTTPHeaders
  package let callProtocol: Manifest.CallProtocol
  package let connect: Manifest.Connect
  /// The largest message of a response.
  package let maximumMessageBytes: Int
  /// A transport without limits for time and bodies, because calls have limits of their own.
  package let transport: any HTTPTransport
}

extension PluginHost {
  /// The settings of calls in the serving generation.
  ///
  /// - Throws: ``ServerError`` if the manifest is for GraphQL.
  package func callSettings() throws -> CallSettings {
    let runtime = live.current.host
    try ServerError.wrapping { try runtime.manifest.requireCalls("use carabiner run") }
    return CallSettings(
      endpoint: runtime.endpointURL, headers: runtime.headers, callProtocol: runtime.manifest.callProtocol,
      connect: runtime.manifest.connect, maximumMessageBytes: runtime.manifest.settings.maximumBodyBytes,
      transport: ScopedTransport(base: runtime.transport))
  }
}
