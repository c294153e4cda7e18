// swift-tools-version: 6.2
import PackageDescription

let package = Package(
  name: "typed-client",
  dependencies: [.package(name: "carabiner", path: "../../..")],
  targets: [
    .executableTarget(
      name: "TypedClient",
      dependencies: [
        .product(name: "Carabiner", package: "carabiner"),
        .product(name: "CarabinerCurl", package: "carabiner"),
      ],
      // Generates Swift code from the `.graphql` files of the target.
      plugins: [.plugin(name: "CarabinerGenerate", package: "carabiner")])
  ],
  swiftLanguageModes: [.v6]
)
