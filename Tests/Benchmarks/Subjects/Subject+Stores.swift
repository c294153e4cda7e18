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

/// Writes a response to a store and reads it back.
package struct StoreWork: Sendable {
  private let store: ApolloStore
  private let operation: DynamicOperation
  private let body: Data

  /// A store with a cache.
  ///
  /// - Parameter isSmall: 1 KB (10 records) instead of 100 KB (1,001 records).
  package init(_ cache: any NormalizedCache, isSmall: Bool) {
    store = ApolloStore(cache: cache)
    operation =
      isSmall
      ? DynamicOperation(document: Samples.itemsDocument, operationName: "Items")
      : DynamicOperation(document: Samples.largeDocument, operationName: "Rows")
    body = Data(isSmall ? Samples.response(items: 9) : Samples.large())
  }

  /// Validates the response, splits it into records and publishes them.
  package func write(_ count: Int) async throws {
    for _ in 0..<count {
      let (response, tape) = try ResponseBody.scanned(body)
      guard let records = ApolloStore.records(of: response, operation: operation, tape: tape) else {
        throw SubjectError(description: "the response has no records")
      }
      try await store.publish(records: records)
    }
  }

  /// Assembles the response from its records.
  package func read(_ count: Int) async throws {
    for _ in 0..<count {
      guard try await store.load(operation)?.body.hasData == true else {
        throw SubjectError(description: "the store has not all of the response")
      }
    }
  }
}
