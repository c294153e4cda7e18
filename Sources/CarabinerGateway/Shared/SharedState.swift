internal import Carabiner
internal import CarabinerRESP
package import CarabinerRedis

/// The state that the gateways of a fleet share (`serve.shared`).
package final class SharedState: Sendable {
  package let store: SharedStore
  package let rates: SharedRates?
  let idempotency: IdempotencyRule?
  private let rounds: Task<Void, Never>?

  /// Starts to count together with the other gateways.
  ///
  /// - Parameters:
  ///   - rates: The rates of clients; nil if there is no rate.
  ///   - interval: How often counts are sent and read.
  ///   - idempotency: The mutations that run once; nil for none.
  package init(_ store: SharedStore, rates: SharedRates?, every interval: Duration, idempotency: IdempotencyRule?) {
    (self.store, self.rates, self.idempotency) = (store, rates, idempotency)
    rounds = rates.map { rates in
      Task {
        while (try? await Task.sleep(for: interval)) != nil { await rates.exchange(over: store) }
      }
    }
  }

  deinit { rounds?.cancel() }
}

extension SharedRates {
  /// Sends the counts that are new, and reads those of all gateways.
  fileprivate func exchange(over store: SharedStore) async {
    guard store.isAvailable else { return pause() }
    guard let round = beginRound() else { return }
    let counts = round.entries.map {
      SharedCount(name: $0.name, lastName: $0.lastName, added: $0.added, addedToLast: $0.addedToLast)
    }
    do throws(RedisError) {
      // A count is read in the next window too.
      let totals = try await store.exchange(counts, life: .milliseconds(3 * window))
      end(round, totals: totals.totals, offset: totals.offset)
    } catch {
      fail(round, wasSent: error.code != .unavailable && error.code != .overloaded)
    }
  }
}
