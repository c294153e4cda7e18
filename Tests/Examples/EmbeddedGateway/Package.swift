// swift-tools-version: 6.2
import PackageDescription

let package = Package(
  name: "embedded-gateway",
  dependencies: [.package(name: "carabiner", path: "../../..")],
  targets: [
    .executableTarget(
      name: "EmbeddedGateway",
      dependencies: [
        .product(name: "Carabiner", package: "carabiner"),
        .product(name: "CarabinerHost", package: "carabiner"),
      ])
  ],
  swiftLanguageModes: [.v6]
)
