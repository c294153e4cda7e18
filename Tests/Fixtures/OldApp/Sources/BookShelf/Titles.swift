import Apollo

extension Shelf {
  /// The title of a book, and its title after each change.
  func titles(of id: LibraryAPI.ID) async -> AsyncThrowingStream<String, any Error> {
    let (titles, continuation) = AsyncThrowingStream.makeStream(of: String.self)
    let watcher = await client.watch(query: LibraryAPI.TitleQuery(id: id)) { result in
      do {
        if let title = try result.get().data?.book?.title { continuation.yield(title) }
      } catch {
        continuation.finish(throwing: error)
      }
    }
    continuation.onTermination = { _ in watcher.cancel() }
    return titles
  }
}
