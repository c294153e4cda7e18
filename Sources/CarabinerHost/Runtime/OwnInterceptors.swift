internal import Carabiner
internal import CarabinerProvider

/// The interceptors of a program, around those of a manifest.
package struct OwnInterceptors: Sendable {
  /// Before the GraphQL stages of the manifest, the outermost first.
  var graphQL: [any GraphQLInterceptor] = []
  /// After its HTTP stages, the outermost first.
  var http: [any HTTPInterceptor] = []

  var isEmpty: Bool { graphQL.isEmpty && http.isEmpty }

  /// A provider of all interceptors.
  func around(_ chain: any InterceptorProvider) -> any InterceptorProvider {
    isEmpty ? chain : SurroundedChain(chain: chain, own: self)
  }
}

private struct SurroundedChain: InterceptorProvider {
  let chain: any InterceptorProvider
  let own: OwnInterceptors

  func interceptors<Operation: GraphQLOperation>(
    for operation: Operation, context: RequestContext
  ) throws -> RequestInterceptors {
    var interceptors = try chain.interceptors(for: operation, context: context)
    interceptors.graphQL.insert(contentsOf: own.graphQL, at: 0)
    interceptors.http.append(contentsOf: own.http)
    return interceptors
  }
}
