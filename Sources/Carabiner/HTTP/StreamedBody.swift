public import FoundationEssentials
internal import Synchronization

/// A body of unknown length, whose chunks are pulled while it is sent. Two bodies are equal if they are copies of one.
///
/// It is sent once. A retry or a redirect that would send it again fails.
public final class StreamedBody: Sendable, Hashable {
  private let chunks: PullStream<Data>
  private let isTaken = Atomic<Bool>(false)

  /// A body of these chunks. Empty chunks are not sent.
  ///
  /// - Parameter chunks: The next chunk is pulled when the transport has taken the one before. An error of the stream fails the
  ///   request. If the request ends first, the task that pulls is cancelled.
  public init(_ chunks: PullStream<Data>) { self.chunks = chunks }

  /// Whether a transport has begun to send the body.
  public var wasTaken: Bool { isTaken.load(ordering: .acquiring) }

  /// The chunks, for the transport that sends them; nil if they were taken before.
  public func take() -> PullStream<Data>? { isTaken.exchange(true, ordering: .acquiringAndReleasing) ? nil : chunks }

  public static func == (left: StreamedBody, right: StreamedBody) -> Bool { left === right }

  public func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(self)) }
}
