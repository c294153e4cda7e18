// swift-tools-version: 6.2
import PackageDescription

let package = Package(
  name: "delegate-client",
  dependencies: [.package(name: "carabiner", path: "../../..")],
  targets: [
    .executableTarget(
      name: "DelegateClient",
      dependencies: [
        .product(name: "CarabinerPipeline", package: "carabiner"),
        .product(name: "CarabinerHost", package: "carabiner"),
      ])
  ],
  swiftLanguageModes: [.v6]
)
