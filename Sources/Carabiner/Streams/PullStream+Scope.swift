extension PullStream {
  /// Pulls the first element now, within the current task-local values, and keeps these values for later elements.
  ///
  /// A stream is pulled after the function that created it has returned, when its task-local values are no longer bound. For most
  /// streams, which have one element, pulling it here is sufficient. A longer stream needs a task that keeps the values.
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
          // A stored closure that refers to the successor would retain both streams for ever, with their sources.
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
