package import Carabiner

extension PullStream<GraphQLResponse<DynamicOperation>> {
  /// The last result, which holds all that came before it.
  package func finalResult() async throws -> Element {
    switch try await pull() {
    case .last(let response): response
    case .element(let response): try await finalResult(after: response)
    case .end: throw RequestChainError(.noResults, "the operation brought no result")
    }
  }

  /// The last result, of which this one came first.
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
