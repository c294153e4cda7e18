internal import Carabiner
internal import FoundationEssentials
internal import Synchronization

/// A watch of keys at one member. Releasing it closes its stream.
package final class EtcdWatch: Sendable {
  private struct State {
    var lines: EtcdLines
    /// Whether the body has ended.
    var isOver = false
  }

  private let chunks: PullStream<Data>
  private let state: Mutex<State>

  init(_ chunks: PullStream<Data>, maximumLineBytes: Int) {
    self.chunks = chunks
    state = Mutex(State(lines: EtcdLines(maximumBytes: maximumLineBytes)))
  }

  /// Waits until the keys are watched.
  func begin() async throws {
    guard try await next().isCreated else {
      throw EtcdError(.malformed, "etcd sends changes and does not begin the watch; check its version, 3.4 or later")
    }
  }

  /// The next line. One caller at a time.
  ///
  /// - Throws: ``EtcdError`` if the watch is canceled, a line is not valid or too long, or the stream ends; or `CancellationError`.
  package func next() async throws -> EtcdWatchLine {
    while true {
      let (bytes, isOver) = try state.withLock { state throws(EtcdError) in (try state.lines.next(), state.isOver) }
      if let bytes {
        let line = try EtcdWatchLine(bytes)
        // etcd leaves the stream of a canceled watch open, so the error must end it.
        if let failure = line.failure { throw failure }
        return line
      }
      guard !isOver else { throw Self.end(after: state.withLock(\.lines.rest)) }
      do {
        switch try await chunks.pull() {
        case .element(let chunk): state.withLock { $0.lines.add(chunk) }
        case .last(let chunk):
          state.withLock { state in
            state.lines.add(chunk)
            state.isOver = true
          }
        case .end: state.withLock { $0.isOver = true }
        }
      } catch let error as TransportError {
        throw EtcdError(.unavailable, "a watch of etcd is lost, and is begun again: \(error)")
      }
    }
  }
}

extension EtcdWatch {
  /// The error for the end of a stream.
  ///
  /// - Parameter rest: The last bytes, which are an error of etcd or a part of a line.
  private static func end(after rest: [UInt8]) -> EtcdError {
    do throws(EtcdError) {
      _ = try EtcdReply.read(rest)
    } catch {
      if error.code != .malformed { return error }
    }
    return EtcdError(.unavailable, "etcd has ended a watch; it is begun again")
  }
}

extension EtcdClient {
  /// Watches keys from a revision on, at the member that answered last. Returns when they are watched.
  ///
  /// - Throws: ``EtcdError``, or `CancellationError`.
  package func watch(_ keys: EtcdKeys, from revision: Int64) async throws -> EtcdWatch {
    let body = EtcdRequest.watch(keys, from: revision)
    let index = member
    // etcd 3.4 denies a watch whose token is not valid.
    return try await authorized(orDenied: true) { headers in
      var headers = headers
      headers[Self.leaderField] = "true"
      let fields = headers
      return try await Deadline(seconds: settings.limits.timeout).bounding(
        EtcdError(
          .unavailable,
          "etcd has not begun a watch within \(settings.limits.timeout) s at \(settings.members[index]); check its log")
      ) { [self] in
        do {
          let response = try await open(EtcdRequest.watchPath, body, fields, with: index, timeout: .infinity)
          guard response.response.statusCode == 200 else {
            throw Self.failure(response.response.statusCode, try await self.body(of: response))
          }
          let watch = EtcdWatch(response.chunks, maximumLineBytes: settings.limits.lineBytes)
          try await watch.begin()
          return watch
        } catch let error as TransportError {
          throw EtcdError(.unavailable, "etcd cannot be reached for a watch: \(error)")
        }
      }
    }
  }
}
