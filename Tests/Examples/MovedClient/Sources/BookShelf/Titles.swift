import Carabiner

extension Shelf {
  /// The title of a book, and its title after each change.
  func titles(of id: ID) -> some AsyncSequence<String, any Error> {
    client.watch(TitleQuery(id: id)).compactMap { try $0.data?.book?.title }
  }
}
