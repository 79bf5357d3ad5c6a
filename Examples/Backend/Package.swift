// swift-tools-version: 6.3
import PackageDescription

// Apple's own framework where there is one.
let whereAppleHasNone: TargetDependencyCondition? = .when(platforms: [.linux, .android])
let cloudKit: Target.Dependency = .product(
    name: "CloudKit",
    package: "swift-cloudkit",
    condition: whereAppleHasNone
)
let testing: Target.Dependency = .product(
    name: "CloudKitTesting",
    package: "swift-cloudkit",
    condition: whereAppleHasNone
)
let codable: Target.Dependency = .product(name: "CloudKitCodable", package: "swift-cloudkit")
let hummingbird: Target.Dependency = .product(name: "Hummingbird", package: "hummingbird")

let package = Package(
    name: "Backend",
    platforms: [.macOS(.v15)],
    dependencies: [
        .package(name: "swift-cloudkit", path: "../.."),
        .package(
            url: "https://github.com/hummingbird-project/hummingbird",
            from: "2.28.1",
            traits: []
        ),
    ],
    targets: [
        // The service: prices in the public database, read and set over HTTP.
        .target(name: "PriceService", dependencies: [cloudKit, codable, hummingbird]),
        // The process around it.
        .executableTarget(
            name: "prices",
            dependencies: ["PriceService", cloudKit, hummingbird]
        ),
        .testTarget(
            name: "PriceServiceTests",
            dependencies: [
                "PriceService", cloudKit, testing, hummingbird,
                .product(name: "HummingbirdTesting", package: "hummingbird"),
            ]
        ),
    ],
    swiftLanguageModes: [.v6]
)
