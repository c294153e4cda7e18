// swift-tools-version: 6.2
import PackageDescription

let package = Package(
  name: "embedded-gateway",
  dependencies: [
    .package(name: "carabiner", path: "../../.."),
    .package(url: "https://github.com/apple/swift-log", from: "1.6.0"),
    .package(url: "https://github.com/swift-server/swift-service-lifecycle", from: "2.0.0"),
  ],
  targets: [
    .executableTarget(
      name: "EmbeddedGateway",
      dependencies: [
        .product(name: "Carabiner", package: "carabiner"),
        .product(name: "CarabinerHost", package: "carabiner"),
        .product(name: "Logging", package: "swift-log"),
        .product(name: "ServiceLifecycle", package: "swift-service-lifecycle"),
        .product(name: "UnixSignals", package: "swift-service-lifecycle"),
      ])
  ],
  swiftLanguageModes: [.v6]
)
