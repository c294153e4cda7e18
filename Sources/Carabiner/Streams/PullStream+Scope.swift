extension PullStream {
  /// Pulls the first element now, inside the task-locals that are bound here, and keeps them for the elements to come.
  ///
  /// A stream is pulled after the function that made it returned, when the task-locals it bound are gone. Most streams have one
  /// element, and pulling it here is all it takes; only a longer one needs a task that remembers the scope.
  @inline(__always) package func startedInThisScope() async -> Self {
    if case .single = source { return self }
    do {
      switch try await pull() {
      case .end: return .empty
      case .last(let element): return PullStream(element)
      case .element(let element):
        let rest = ScopedPuller { try await pull() }
        return PullStream(element).followed { PullStream { try await rest.next() } }
      }
    } catch {
      return .failing(error)
    }
  }

  /// Pulls the first element now, so that an error of one type is thrown here and not where the stream is consumed.
  func started<Immediate: Error>(rethrowing immediate: Immediate.Type) async throws -> Self {
    if case .single = source { return self }
    do {
      switch try await pull() {
      case .end: return .empty
      case .last(let element): return PullStream(element)
      case .element(let element): return PullStream(element).followed { self }
      }
    } catch let error as Immediate {
      throw error
    } catch {
      return .failing(error)
    }
  }

  /// This stream, and after its end the stream that `next` returns.
  func followed(by next: @escaping @Sendable () async -> Self) -> Self {
    let successor = StreamSuccessor<Element>()
    return Self {
      switch successor.place {
      case .here:
        switch try await pull() {
        case .element(let element): return .element(element)
        case .last(let element):
          // A closure kept here that knows the successor would keep both for ever, and what they read from with them.
          successor.place = .due
          return .element(element)
        case .end: break
        }
      case .due: break
      case .there(let later): return try await later.pull()
      }
      let later = await next()
      successor.place = .there(later)
      return try await later.pull()
    }
  }
}
