package import FoundationEssentials
internal import Synchronization

/// The files of a form that a client is still sending. They are passed on while they arrive, so they can be read once.
package final class UploadedForm: Sendable {
  /// A file of the form.
  package struct File: Sendable, Hashable {
    /// The name of its part.
    package let name: String
    /// The places of the file in the request: `variables.` and a path in the variables.
    package let places: [String]

    package init(name: String, places: [String]) {
      self.name = name
      self.places = places
    }
  }

  /// A piece of the files.
  package enum Piece: Sendable, Hashable {
    /// The beginning of a file.
    case file(name: String, fileName: String, mediaType: String)
    /// Bytes of the file that has begun.
    case bytes(Data)
  }

  private struct State {
    var isTaken = false
    var failure: (any Error)?
  }

  /// The files, as the form announces them.
  package let files: [File]
  private let pieces: PullStream<Piece>
  private let state = Mutex(State())

  /// - Parameter pieces: The pieces of all files, in any order of the files.
  package init(files: [File], pieces: PullStream<Piece>) {
    self.files = files
    self.pieces = pieces
  }

  /// The next piece; nil at the end.
  package func next() async throws -> Piece? {
    do {
      switch try await pieces.pull() {
      case .element(let piece), .last(let piece): return piece
      case .end: return nil
      }
    } catch {
      state.withLock { $0.failure = error }
      throw error
    }
  }

  /// Notes that the files are being sent.
  ///
  /// - Throws: If that has begun before: the error that ended it, or ``RequestChainError`` with the code `invalidRequest`.
  func take() throws {
    let error: (any Error)? = state.withLock { state in
      defer { state.isTaken = true }
      guard state.isTaken else { return nil }
      return state.failure
        ?? RequestChainError(
          .invalidRequest,
          "the files of the upload were sent before, and are not kept; leave out the retry, or let the client send them again")
    }
    if let error { throw error }
  }
}
