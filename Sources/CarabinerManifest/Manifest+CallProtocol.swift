extension Manifest {
  /// The protocol of a host's calls.
  package enum CallProtocol: String, Sendable, Hashable, CaseIterable {
    /// GraphQL over HTTP.
    case graphQL = "graphql"
    /// Connect.
    case connect
    /// gRPC-Web.
    case grpcWeb = "grpc-web"
  }
}
