import Carabiner
import Connect

/// A client whose exchanges pass the HTTP stages of a provider, for example the plugins of a manifest.
public func client(
  of host: String, stages: any InterceptorProvider, transport: any HTTPTransport, interceptors: [InterceptorFactory]
) -> ProtocolClient {
  ProtocolClient(
    httpClient: CurlHTTPClient(transport: transport, stages: stages),
    config: ProtocolClientConfig(
      host: host, networkProtocol: .connect, codec: JSONCodec(), unaryGET: .alwaysEnabled, timeout: 10,
      requestCompression: .init(minBytes: 1_000, pool: GzipCompressionPool()), interceptors: interceptors))
}
