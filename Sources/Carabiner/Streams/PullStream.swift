/// A stream that produces each element when it is read.
///
/// Mapping it needs no task and no buffer. Only one task may read it at a time.
public struct PullStream<Element: Sendable>: Sendable {
  /// The result of one pull.
  public enum Step: Sendable {
    /// An element; more may follow.
    case element(Element)
    /// The last element. No further pull is needed.
    case last(Element)
    /// No more elements.
    case end
  }

  /// The source of the elements.
  ///
  /// Most streams have one element, which is usually known when the stream is made. Reading it directly saves an `async` call for
  /// the stream and one for each stage that maps it.
  @usableFromInline enum Source: Sendable {
    case steps(@Sendable () async throws -> Step)
    case single(SingleElement<Element>)
    /// One known element, and the function that it is passed through when it is read.
    case mapped(SingleElement<Element>, @Sendable (Element) async throws -> Element)
    /// One known element, and the pass that sees it when it is read.
    case passed(SingleElement<Element>, any StreamPass<Element>)
  }

  @usableFromInline let source: Source

  /// Creates a stream that calls `pull` for each step.
  ///
  /// - Parameter pull: Called by one consumer at a time, and not again after `last`, `end` or an error.
  @inlinable public init(pull: @escaping @Sendable () async throws -> Step) {
    source = .steps(pull)
  }

  @inlinable @inline(__always) init(source: Source) { self.source = source }

  /// Creates a stream of one element.
  @inlinable @inline(__always) public init(_ element: Element) {
    self.init(source: .single(SingleElement(element)))
  }

  /// A stream without elements.
  public static var empty: Self { Self { .end } }

  /// A stream that fails at once.
  public static func failing(_ error: any Error) -> Self { Self { throw error } }

  /// Creates a stream of elements.
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

/// The element of a stream that has one.
@usableFromInline final class SingleElement<Element: Sendable>: Sendable {
  @usableFromInline let element: Element

  @inlinable init(_ element: Element) { self.element = element }
}

// MARK: Stages

// A closure with a capture list does not inherit its caller's isolation: the compiler wraps it in a second closure, which changes
// the executor at each call. So the code of a request's path has no capture lists.
extension PullStream {
  /// Passes every element through `transform`.
  // Inlinable, so that an interceptor, which is compiled for any type of request, need not look up the metadata of the element
  // type.
  @inlinable @inline(__always) public func map(_ transform: @escaping @Sendable (Element) async throws -> Element) -> Self {
    if case .single(let single) = source { Self(source: .mapped(single, transform)) } else { mapSteps(transform) }
  }

  @usableFromInline func mapSteps(_ transform: @escaping @Sendable (Element) async throws -> Element) -> Self {
    Self {
      switch try await pull() {
      case .element(let element): .element(try await transform(element))
      case .last(let element): .last(try await transform(element))
      case .end: .end
      }
    }
  }

  /// Passes every element through `transform` and drops those for which it returns nil.
  public func compactMap<Output: Sendable>(
    _ transform: @escaping @Sendable (Element) async throws -> Output?
  ) -> PullStream<Output> {
    PullStream<Output> {
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
  /// - Parameter handler: Returns an element that replaces the error and ends the stream, returns nil to end the stream without an
  ///   element, or throws. It does not see cancellation or a retry: the chain handles both.
  public func mapErrors(_ handler: @escaping @Sendable (any Error) async throws -> Element?) -> Self {
    if case .single = source { return self }
    return Self {
      do {
        return try await pull()
      } catch  where !error.isChainControl {
        return try await handler(error).map { .last($0) } ?? .end
      }
    }
  }
}

// MARK: Consuming

extension PullStream {
  /// Returns the next step. Do not call it again after `last`, `end` or an error.
  @inlinable @inline(__always) package func pull() async throws -> Step {
    switch source {
    case .steps(let pull): try await pull()
    case .single(let single): .last(single.element)
    case .mapped(let single, let transform): .last(try await transform(single.element))
    case .passed(let single, let pass): pass.passes(single.element) ? .last(single.element) : try await pass.next()
    }
  }
}

extension PullStream: AsyncSequence {
  /// Pulls elements until the stream is over.
  public struct Iterator: AsyncIteratorProtocol {
    @usableFromInline let stream: PullStream
    @usableFromInline var isOver = false

    @inlinable init(_ stream: PullStream) { self.stream = stream }

    /// The next element, or nil at the end.
    // Inlinable, as is all code that creates and reads a stream: otherwise the metadata of the element type would be looked up at
    // each step.
    @inlinable public mutating func next() async throws -> Element? { try await next(isolation: #isolation) }

    /// The next element, or nil at the end; `for await` calls it.
    @inlinable public mutating func next(isolation actor: isolated (any Actor)?) async throws -> Element? {
      guard !isOver else { return nil }
      do {
        switch try await stream.pull() {
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

  @inlinable public func makeAsyncIterator() -> Iterator { Iterator(self) }
}
