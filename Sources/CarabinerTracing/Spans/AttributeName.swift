/// The names of span attributes: those of OpenTelemetry where it defines one, and Carabiner's own.
package enum AttributeName {
  // Semantic conventions of HTTP, of the network and of GraphQL.
  package static let clientAddress = "client.address"
  package static let errorType = "error.type"
  package static let graphQLOperationName = "graphql.operation.name"
  package static let graphQLOperationType = "graphql.operation.type"
  package static let method = "http.request.method"
  package static let originalMethod = "http.request.method_original"
  package static let protocolName = "network.protocol.name"
  package static let protocolVersion = "network.protocol.version"
  package static let resendCount = "http.request.resend_count"
  package static let route = "http.route"
  package static let serverAddress = "server.address"
  package static let serverPort = "server.port"
  package static let statusCode = "http.response.status_code"
  package static let urlFull = "url.full"
  package static let urlPath = "url.path"
  package static let urlScheme = "url.scheme"
  package static let userAgent = "user_agent.original"

  // Attributes of a chain of interceptors.
  package static let direction = "carabiner.direction"
  package static let generation = "carabiner.generation"
  package static let hook = "carabiner.hook"
  package static let kind = "carabiner.kind"
  package static let leftOutSpans = "carabiner.left_out_spans"
  package static let outcome = "carabiner.outcome"
  package static let plugin = "carabiner.plugin"
  package static let stage = "carabiner.stage"
}
