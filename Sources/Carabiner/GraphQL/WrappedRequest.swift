package import FoundationEssentials

/// A request that has the settings of another and makes a different HTTP request.
package protocol WrappedRequest<Operation>: GraphQLRequest {
  /// The request whose settings it has.
  var request: JSONRequest<Operation> { get set }
}

extension WrappedRequest {
  package var context: RequestContext { request.context }
  package var wireOptions: WireOptions { request.wireOptions }

  package var graphQLEndpoint: URL {
    get { request.graphQLEndpoint }
    set { request.graphQLEndpoint = newValue }
  }

  package var operation: Operation {
    get { request.operation }
    set { request.operation = newValue }
  }

  package var additionalHeaders: HTTPHeaders {
    get { request.additionalHeaders }
    set { request.additionalHeaders = newValue }
  }

  package var fetchBehavior: FetchBehavior {
    get { request.fetchBehavior }
    set { request.fetchBehavior = newValue }
  }

  package var writeResultsToCache: Bool {
    get { request.writeResultsToCache }
    set { request.writeResultsToCache = newValue }
  }

  package var requestTimeout: TimeInterval? {
    get { request.requestTimeout }
    set { request.requestTimeout = newValue }
  }

  package var wireOverrides: WireOverrides {
    get { request.wireOverrides }
    set { request.wireOverrides = newValue }
  }
}
