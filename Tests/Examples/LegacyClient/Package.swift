// swift-tools-version: 6.2
import PackageDescription

let package = Package(
  name: "legacy-client",
  dependencies: [.package(name: "carabiner", path: "../../..")],
  targets: [
    .executableTarget(
      name: "LegacyClient",
      dependencies: [
        .product(name: "CarabinerPipeline", package: "carabiner"),
        .product(name: "CarabinerHost", package: "carabiner"),
      ])
  ],
  swiftLanguageModes: [.v6]
)
