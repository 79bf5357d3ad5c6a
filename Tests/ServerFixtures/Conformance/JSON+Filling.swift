extension JSON {
    /// An error for a name in a row without a binding.
    struct UnboundName: Error, CustomStringConvertible {
        var name: String
        var description: String { "Nothing is bound to $\(name)" }
    }

    /// Returns the value with its names replaced by their values.
    ///
    /// - `"$name"` is the value bound to the name, and `"{name}"` inside text is its text;
    /// - `{"$text": 3}` is `"xxx"`;
    /// - `{"$list": 3, "of": …}` is a list of three, `$i` and `{i}` in it being 0, 1 and 2;
    /// - `{"$nested": 3}` is `[[[]]]`.
    func filled(_ names: [String: JSON]) throws -> JSON {
        switch self {
        case .string(let text):
            if text.hasPrefix("$") {
                let name = String(text.dropFirst())
                guard let value = names[name] else { throw UnboundName(name: name) }
                return value
            }
            return .string(text.filled(names))
        case .array(let elements): return .array(try elements.map { try $0.filled(names) })
        case .object(let members):
            if let count = try members["$text"]?.filled(names).integer {
                return .string(String(repeating: "x", count: Int(count)))
            }
            if let count = members["$nested"]?.integer {
                return (0..<count).reduce(.array([])) { list, _ in .array([list]) }
            }
            if let count = try members["$list"]?.filled(names).integer, let element = members["of"]
            {
                return .array(
                    try (0..<count).map { index in
                        try element.filled(names.merging(["i": .int(index)]) { $1 })
                    }
                )
            }
            return .object(
                Dictionary(
                    try members.map { ($0.key.filled(names), try $0.value.filled(names)) }
                ) { $1 }
            )
        default: return self
        }
    }
}

extension String {
    /// Returns the text with each `{name}` replaced by the name's value.
    func filled(_ names: [String: JSON]) -> String {
        guard contains("{") else { return self }
        return names.reduce(self) { text, name in
            switch name.value {
            case .string(let value): text.replacing("{\(name.key)}", with: value)
            case .int(let value): text.replacing("{\(name.key)}", with: String(value))
            default: text
            }
        }
    }
}
