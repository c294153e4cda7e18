package import Carabiner

extension PullStream<GraphQLResponse<DynamicOperation>> {
  /// The last result, which contains all earlier ones.
  package func finalResult() async throws -> Element {
    switch try await pull() {
    case .last(let response): response
    case .element(let response): try await finalResult(after: response)
    case .end: throw RequestChainError(.noResults, "the operation returned no result")
    }
  }

  /// The last result of a stream from which `first` was already pulled.
  package func finalResult(after first: Element) async throws -> Element {
    var result = first
    while true {
      switch try await pull() {
      case .last(let response): return response
      case .element(let response): result = response
      case .end: return result
      }
    }
  }
}
