package import Tracing

/// Creates spans that an exporter sends to a collector.
package final class OTLPTracer: Tracer {
  package typealias Span = OTLPSpan

  /// The sampler.
  package let sampler: TraceSampler
  private let exporter: OTLPExporter

  /// Creates a tracer that passes its spans to `exporter`.
  package init(sampler: TraceSampler, exporter: OTLPExporter) {
    self.sampler = sampler
    self.exporter = exporter
  }

  package func startSpan<Instant: TracerInstant>(
    _ operationName: String, context: @autoclosure () -> ServiceContext, ofKind kind: SpanKind,
    at instant: @autoclosure () -> Instant, function: String, file fileID: String, line: UInt
  ) -> OTLPSpan {
    let context = context()
    var trace: TraceContext
    if let outer = context.trace {
      trace = outer
    } else {
      trace = TraceContext(traceID: .random(), spanID: nil, isSampled: false, isRemote: false)
      trace.isSampled = sampler.includes(trace.traceID)
    }
    trace.spanID = .random()
    trace.isRemote = false
    return OTLPSpan(
      operationName, context: context, trace: trace, parent: context.trace, kind: kind,
      start: instant().nanosecondsSinceEpoch, exporter: trace.isSampled ? exporter : nil)
  }

  // The protocol still requires this function. It does nothing, because the exporter sends spans by itself, and the rest at its
  // shutdown.
  package func forceFlush() {}

  package func extract<Carrier, Extract: Extractor>(
    _ carrier: Carrier, into context: inout ServiceContext, using extractor: Extract
  ) where Extract.Carrier == Carrier {
    guard let parent = extractor.extract(key: TraceParent.fieldName, from: carrier).flatMap({ TraceParent($0) }) else { return }
    let state = extractor.extract(key: TraceState.fieldName, from: carrier).flatMap { TraceState([$0]) }
    context.trace = sampler.context(of: parent, state: { state }) ?? TraceContext(parent, state: state).unsampled
  }

  package func inject<Carrier, Inject: Injector>(
    _ context: ServiceContext, into carrier: inout Carrier, using injector: Inject
  ) where Inject.Carrier == Carrier {
    guard let trace = context.trace, let parent = trace.parent else { return }
    injector.inject(parent.description, forKey: TraceParent.fieldName, into: &carrier)
    if let state = trace.state { injector.inject(state.text, forKey: TraceState.fieldName, into: &carrier) }
  }
}

extension TraceContext {
  /// The same context with the sampled flag cleared.
  package var unsampled: TraceContext {
    var unsampled = self
    unsampled.isSampled = false
    return unsampled
  }
}
