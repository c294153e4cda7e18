/// A stream whose elements are made when somebody asks for them.
///
/// Mapping one costs a closure: no task, no buffer. One consumer at a time.
public struct PullStream<Element: Sendable>: Sendable {
  /// What one pull brings.
  public enum Step: Sendable {
    /// An element; more may follow.
    case element(Element)
    /// The last element: nobody needs to ask again.
    case last(Element)
    /// No more elements.
    case end
  }

  /// Brings the next step. Not called again after `last`, `end` or an error.
  @usableFromInline package let pull: @Sendable () async throws -> Step

  /// A stream that asks `pull` for each step.
  ///
  /// - Parameter pull: Called by one consumer at a time, and not again after `last`, `end` or an error.
  @inlinable public init(pull: @escaping @Sendable () async throws -> Step) {
    self.pull = pull
  }

  /// A stream of exactly one element.
  @inlinable public init(_ element: Element) {
    self.init { .last(element) }
  }

  /// A stream without elements.
  public static var empty: Self { Self { .end } }

  /// A stream that fails at once.
  public static func failing(_ error: any Error) -> Self { Self { throw error } }

  /// A stream of these elements.
  public init(elements: some Sequence<Element>) {
    let elements = Array(elements)
    let position = ConsumerPosition()
    self.init {
      let index = position.advance()
      guard index < elements.count else { return .end }
      return index == elements.count - 1 ? .last(elements[index]) : .element(elements[index])
    }
  }
}

// MARK: Stages

extension PullStream {
  /// Passes every element through `transform`.
  public func map(_ transform: @escaping @Sendable (Element) async throws -> Element) -> Self {
    Self { [pull] in
      switch try await pull() {
      case .element(let element): .element(try await transform(element))
      case .last(let element): .last(try await transform(element))
      case .end: .end
      }
    }
  }

  /// Passes every element through `transform` and leaves out those it answers with nil.
  public func compactMap<Output: Sendable>(
    _ transform: @escaping @Sendable (Element) async throws -> Output?
  ) -> PullStream<Output> {
    PullStream<Output> { [pull] in
      while true {
        switch try await pull() {
        case .element(let element):
          if let output = try await transform(element) { return .element(output) }
        case .last(let element):
          guard let output = try await transform(element) else { return .end }
          return .last(output)
        case .end:
          return .end
        }
      }
    }
  }

  /// Handles an error of an earlier step.
  ///
  /// - Parameter handler: Returns an element that takes the error's place and ends the stream, returns nil to end it without,
  ///   or throws. It does not see cancellation nor a request for a retry: those belong to the chain.
  public func mapErrors(_ handler: @escaping @Sendable (any Error) async throws -> Element?) -> Self {
    Self { [pull] in
      do {
        return try await pull()
      } catch  where !error.isChainControl {
        return try await handler(error).map { .last($0) } ?? .end
      }
    }
  }
}

// MARK: Consuming

extension PullStream: AsyncSequence {
  /// Pulls elements until the stream is over.
  public struct Iterator: AsyncIteratorProtocol {
    @usableFromInline let pull: @Sendable () async throws -> Step
    @usableFromInline var isOver = false

    @inlinable init(pull: @escaping @Sendable () async throws -> Step) { self.pull = pull }

    /// The next element, or nil at the end.
    // Inlinable, as is all that makes a stream and reads it: elsewhere the type of the element would be looked up at each step.
    @inlinable public mutating func next() async throws -> Element? { try await next(isolation: #isolation) }

    /// The next element, or nil at the end, asked for by `for await`.
    @inlinable public mutating func next(isolation actor: isolated (any Actor)?) async throws -> Element? {
      guard !isOver else { return nil }
      do {
        switch try await pull() {
        case .element(let element):
          return element
        case .last(let element):
          isOver = true
          return element
        case .end:
          isOver = true
          return nil
        }
      } catch {
        isOver = true
        throw error
      }
    }
  }

  @inlinable public func makeAsyncIterator() -> Iterator { Iterator(pull: pull) }
}
