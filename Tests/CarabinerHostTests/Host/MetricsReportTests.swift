import Carabiner
import CarabinerGateway
import CoreMetrics
import Foundation
import MetricsTestKit
import Testing

@testable import CarabinerHost

@Suite("Metrics of a host for swift-metrics")
struct MetricsReportTests {
  private func samples(_ count: Double?, gauge: Double) -> MetricSamples {
    var samples = MetricSamples()
    samples.family("calls_total", .counter, "Calls.")
    if let count { samples.sample("calls_total", [("plugin", "a")], count) }
    samples.family("running", .gauge, "Calls now.")
    samples.sample("running", [], gauge)
    return samples
  }

  @Test("a counter grows by the difference, a counter that restarted grows by its value, and a gauge is set")
  func reports() throws {
    let metrics = TestMetrics()
    var series = ReportedSeries(metrics)
    for (count, gauge) in [(5.0, 1.0), (5, 3), (12, 2), (4, 0)] { series.report(samples(count, gauge: gauge)) }
    #expect(try metrics.expectCounter("calls_total", [("plugin", "a")]).values == [5, 7, 4])
    #expect(try metrics.expectMeter("running").values == [1, 3, 2, 0])
  }

  @Test("a series that is not reported any more is removed, and so are all gauges at the end")
  func removal() throws {
    let metrics = TestMetrics()
    var series = ReportedSeries(metrics)
    series.report(samples(5, gauge: 1))
    series.report(samples(nil, gauge: 1))
    #expect(metrics.counters.isEmpty && metrics.meters.count == 1)
    series.end()
    #expect(metrics.meters.isEmpty)
  }

  @Test("a host reports its plugins, its upstream and its generation, and for the last time when it shuts down")
  func host() async throws {
    let chain = try await StampedChain("one")
    let metrics = TestMetrics()
    var configuration = PluginHost.Configuration()
    configuration.metrics = metrics
    configuration.metricsInterval = .seconds(3600)
    let host = try await PluginHost(manifest: chain.manifest, configuration: configuration)
    let client = ApolloClient(networkTransport: host.transport)
    for _ in 0..<3 { try await #expect(client.stamp() == stamped("one")) }
    await host.shutDown()
    #expect(metrics.counterTotal(label: "carabiner_plugin_calls_total", dimensions: [("plugin", "stamp")]) == 3)
    let requests = metrics.counters(label: "carabiner_upstream_requests_total").reduce(0) { $0 + $1.totalValue }
    #expect(requests == 3)
    #expect(metrics.meters.isEmpty)
  }

  @Test("a gateway reports its requests to the backend of its host")
  func gateway() async throws {
    let chain = try await StampedChain("one")
    let metrics = TestMetrics()
    var configuration = PluginHost.Configuration()
    configuration.metrics = metrics
    configuration.metricsInterval = .seconds(3600)
    let host = try await PluginHost(manifest: chain.manifest, configuration: configuration)
    let gateway = try await Gateway(host: host, configuration: .init(address: "127.0.0.1:0")).start()
    let address = try #require(gateway.addresses.first)
    try await #expect(ask(address) == stamped("one"))
    await gateway.shutDown(within: .seconds(10))
    await host.shutDown()
    #expect(metrics.counterTotal(label: "carabiner_requests_total", dimensions: [("status", "200")]) == 1)
    let durations = metrics.counters(label: "carabiner_request_duration_seconds_count").reduce(0) { $0 + $1.totalValue }
    #expect(durations == 1)
  }
}
