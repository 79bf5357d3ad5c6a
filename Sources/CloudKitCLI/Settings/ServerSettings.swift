import CloudKitWire
import Configuration

/// The settings of a server, each from the first source that has it: the command line, the
/// environment, a configuration file, the default.
///
/// A setting has one name everywhere: the option `--max-connections` is `max-connections` in the file
/// and `CLOUDKIT_SERVE_MAX_CONNECTIONS` in the environment.
struct ServerSettings {
    /// A setting with its source.
    struct Entry: Hashable, Encodable {
        let name: String
        let value: String
        let source: String
    }

    /// The requested settings, in that order.
    private(set) var entries: [Entry] = []

    private let variables: [String: String]
    private let environment: EnvironmentVariablesProvider
    private let file: SettingsFile?

    private static let prefix = ["cloudkit", "serve"]
    /// The settings that are texts because a unit may follow the number.
    static let byteCounts: Set = [
        "quota", "public-quota", "memory-bytes", "max-request-bytes", "max-asset-bytes",
    ]

    /// Creates settings from their sources.
    ///
    /// - Parameters:
    ///   - variables: The environment.
    ///   - file: The configuration file; nil if there is none.
    init(variables: [String: String] = [:], file: SettingsFile? = nil) {
        self.variables = variables.filter { $0.key.hasPrefix(Self.variable("")) }
        environment = EnvironmentVariablesProvider(environmentVariables: self.variables)
        self.file = file
    }

    /// Returns the environment variable of a setting.
    static func variable(_ name: String) -> String {
        (prefix + [name]).joined(separator: "_").uppercased().replacing("-", with: "_")
    }

    // MARK: Asking

    /// Returns text; nil when no source has it.
    mutating func text(_ name: String, _ given: String?) throws -> String? {
        try find(name, given, .string) { if case .string(let text) = $0 { text } else { nil } }
            ?? note(name, nil)
    }

    /// Returns text, or a default.
    mutating func text(_ name: String, _ given: String?, default value: String) throws -> String {
        try text(name, given) ?? note(name, value) ?? value
    }

    /// Returns one of several words.
    mutating func word<Word: RawRepresentable & CaseIterable>(
        _ name: String,
        _ given: Word?,
        default value: Word
    ) throws -> Word where Word.RawValue == String {
        let text = try text(name, given?.rawValue, default: value.rawValue)
        guard let word = Word(rawValue: text) else {
            let words = Word.allCases.map(\.rawValue).joined(separator: " or ")
            throw CommandFailure(unusable: "\(place(name)): '\(text)' is not \(words)")
        }
        return word
    }

    /// Returns a number; nil when no source has it.
    mutating func number(
        _ name: String,
        _ given: Int?,
        in range: ClosedRange<Int>
    ) throws -> Int? {
        let found = try find(name, given, .int) { if case .int(let int) = $0 { int } else { nil } }
        if let found, !range.contains(found) {
            let limit =
                found < range.lowerBound
                ? "the least is \(range.lowerBound)" : "the most is \(range.upperBound)"
            throw CommandFailure(unusable: "\(place(name)) \(found): \(limit)")
        }
        return found ?? note(name, nil)
    }

    /// Returns a number, or a default.
    mutating func number(
        _ name: String,
        _ given: Int?,
        default value: Int,
        in range: ClosedRange<Int>
    ) throws -> Int {
        try number(name, given, in: range) ?? note(name, value) ?? value
    }

    /// Returns a Boolean, or a default.
    mutating func flag(_ name: String, _ given: Bool?, default value: Bool = false) throws -> Bool {
        let variable = Self.variable(name)
        if given == nil, let text = variables[variable], !["true", "false"].contains(text) {
            throw CommandFailure(unusable: "\(variable) is not \(Self.words(for: .bool))")
        }
        return try find(name, given, .bool) { if case .bool(let bool) = $0 { bool } else { nil } }
            ?? note(name, value) ?? value
    }

    /// Returns several texts, which are separated by commas in a variable.
    mutating func texts(
        _ name: String,
        _ given: [String],
        default value: [String] = []
    ) throws -> [String] {
        try find(name, given.isEmpty ? nil : given, .stringArray) { content -> [String]? in
            guard case .stringArray(let texts) = content else { return nil }
            return texts.filter { !$0.isEmpty }
        } ?? note(name, value) ?? value
    }

    /// Returns a number of bytes, such as `500000` or `2 GB`; nil when no source has it.
    mutating func bytes(_ name: String, _ given: String?) throws -> Int64? {
        try text(name, given).map { try byteCount($0, name) }
    }

    /// Returns a number of bytes up to a limit, or a default.
    mutating func bytes(
        _ name: String,
        _ given: String?,
        default value: Int,
        upTo limit: ByteCount
    ) throws -> Int {
        let bytes = try byteCount(text(name, given, default: String(value)), name)
        guard bytes <= limit.bytes else {
            throw CommandFailure(unusable: "\(place(name)) \(bytes): the most is \(limit.bytes)")
        }
        return Int(bytes)
    }

    private func byteCount(_ text: String, _ name: String) throws -> Int64 {
        if let number = Int64(text), number < 1 {
            throw CommandFailure(unusable: "\(place(name)) \(number): the least is 1")
        }
        guard let bytes = ByteCount(text)?.bytes else {
            throw CommandFailure(
                unusable: "\(place(name)): '\(text)' is not a number of bytes, such as 500MB"
            )
        }
        return bytes
    }

    /// Refuses unknown names in the file and in the environment; called after all settings were requested.
    ///
    /// - Parameter others: Settings that were not requested here.
    /// - Throws: `CommandFailure` with the most similar setting.
    func checkNames(besides others: [String]) throws {
        let names = entries.map(\.name)
        if let file, let name = file.names.sorted().first(where: { !names.contains($0) }) {
            throw CommandFailure(
                unusable: "\(file.path): there is no setting '\(name)'" + Self.advice(name, names)
            )
        }
        let known = (names + others).map(Self.variable)
        guard let variable = variables.keys.sorted().first(where: { !known.contains($0) }) else {
            return
        }
        throw CommandFailure(
            unusable: "There is no setting for the variable \(variable)"
                + Self.advice(variable, known)
        )
    }

    private static func advice(_ name: String, _ names: [String]) -> String {
        let advice = NearestName.advice(for: name, in: names)
        return advice.isEmpty ? "; cloudkit serve --print-config lists them" : advice
    }

    /// Lists a requested setting with another text than its value, which has a secret.
    mutating func show(_ name: String, as text: String) {
        entries = entries.map { entry in
            entry.name == name ? Entry(name: name, value: text, source: entry.source) : entry
        }
    }

    /// Returns whether no source has a requested setting.
    func isDefault(_ name: String) -> Bool {
        entries.last { $0.name == name }?.source == Self.defaultSource
    }

    // MARK: Finding

    private static let defaultSource = "default"

    /// Returns the source of a setting, for messages.
    func place(_ name: String) -> String {
        entries.last { $0.name == name }?.source ?? "--\(name)"
    }

    /// Records a setting that no source has; returns its default.
    private mutating func note<Value>(_ name: String, _ value: Value?) -> Value? {
        entries.removeAll { $0.name == name }
        entries.append(Entry(name: name, value: Self.text(of: value), source: Self.defaultSource))
        return value
    }

    private mutating func find<Value>(
        _ name: String,
        _ given: Value?,
        _ type: ConfigType,
        _ content: (ConfigContent) -> Value?
    ) throws -> Value? {
        guard
            let (value, source) = try given.map({ ($0, "--\(name)") })
                ?? stored(environment, name, type, at: Self.variable(name), content)
                ?? file.flatMap({ file in
                    try stored(file.values, name, type, at: "\(name) of \(file.path)", content)
                })
        else { return nil }
        entries.removeAll { $0.name == name }
        entries.append(Entry(name: name, value: Self.text(of: value), source: source))
        return value
    }

    /// Returns the value in the environment or a file.
    private func stored<Value>(
        _ provider: some ConfigProvider,
        _ name: String,
        _ type: ConfigType,
        at source: String,
        _ content: (ConfigContent) -> Value?
    ) throws -> (Value, source: String)? {
        do {
            let found = try provider.value(forKey: Self.key(name), type: type).value?.content
            return found.flatMap(content).map { ($0, source) }
        } catch {
            throw CommandFailure(unusable: "\(source) is not \(Self.words(for: type))")
        }
    }

    /// Returns the key of a setting in a file.
    static func key(_ name: String) -> AbsoluteConfigKey { AbsoluteConfigKey(prefix + [name]) }

    private static func text(of value: Any?) -> String {
        guard let value else { return "" }
        return (value as? [String])?.joined(separator: ",") ?? "\(value)"
    }

    private static func words(for type: ConfigType) -> String {
        switch type {
        case .int: "a whole number"
        case .bool: "true or false"
        case .stringArray: "a list of texts"
        default: "a text"
        }
    }
}
