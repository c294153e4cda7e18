package import Carabiner
internal import Foundation

extension Subject {
  static let stores: [Subject] = ["1k", "100k"].flatMap { size in
    [
      Subject("cache.write\(size)") { _ in StoreWork(InMemoryNormalizedCache(), isSmall: size == "1k").write },
      Subject("cache.read\(size)") { _ in
        let work = StoreWork(InMemoryNormalizedCache(), isSmall: size == "1k")
        try await work.write(1)
        return work.read
      },
    ]
  }
}

/// A response written to a store and read back.
package struct StoreWork: Sendable {
  private let store: ApolloStore
  private let operation: DynamicOperation
  private let body: Data

  /// A store over a cache.
  ///
  /// - Parameter isSmall: 1 KB (10 records) and not 100 KB (1,001 records).
  package init(_ cache: any NormalizedCache, isSmall: Bool) {
    store = ApolloStore(cache: cache)
    operation =
      isSmall
      ? DynamicOperation(document: Samples.itemsDocument, operationName: "Items")
      : DynamicOperation(document: Samples.largeDocument, operationName: "Rows")
    body = Data(isSmall ? Samples.response(items: 9) : Samples.large())
  }

  /// Checks the response, takes it apart and publishes it.
  package func write(_ count: Int) async throws {
    for _ in 0..<count {
      let (response, tape) = try ResponseBody.scanned(body)
      guard let records = ApolloStore.records(of: response, operation: operation, tape: tape) else {
        throw SubjectError(description: "the response has no records")
      }
      try await store.publish(records: records)
    }
  }

  /// Puts the response together.
  package func read(_ count: Int) async throws {
    for _ in 0..<count {
      guard try await store.load(operation)?.body.hasData == true else {
        throw SubjectError(description: "the store has not all of the response")
      }
    }
  }
}
