/// One target of a fixture manifest.
struct Target {
    var name: String
    var type: String
    var path: String?
    /// Targets of the same package.
    var dependencies: [String]
    /// Products of other packages.
    var products: [String]

    init(
        _ name: String,
        type: String = "regular",
        path: String? = nil,
        dependsOn dependencies: [String] = [],
        uses products: [String] = []
    ) {
        self.name = name
        self.type = type
        self.path = path
        self.dependencies = dependencies
        self.products = products
    }

    var dump: Dump.Target {
        // SwiftPM writes a plain string in a manifest as `byName` and `.target(name:)` as `target`.
        let named = dependencies.enumerated().map { index, name in
            [index.isMultiple(of: 2) ? "byName" : "target": [name, nil]]
        }
        let products = products.map { ["product": [$0, "some-package", nil, nil]] }
        return Dump.Target(name: name, type: type, path: path, dependencies: named + products)
    }
}
