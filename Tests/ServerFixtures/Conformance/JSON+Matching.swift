extension JSON {
    /// Returns the differences from a pattern; names in the pattern are bound.
    ///
    /// Members that the pattern leaves out may be anything; lists have the pattern's length.
    ///
    /// - `{"$any": true}` is anything but null, `{"$absent": true}` nothing at all;
    /// - `{"$bind": "name"}` is anything but null, and binds it;
    /// - `{"$starts": "…"}` and `{"$has": "…"}` are about text;
    /// - `{"$set": […]}` is a list in any order, `{"$count": 3}` one of three elements;
    /// - `{"$not": …}` is another value; `{"$keys": […], …}` an object with exactly these members.
    public func mismatches(
        _ pattern: JSON,
        at path: String = "",
        binding names: inout [String: JSON]
    ) -> [String] {
        switch (pattern, self) {
        case (.object(let members), _):
            if let rule = members.first(where: { $0.key.hasPrefix("$") && $0.key != "$keys" }) {
                return mismatches(rule.key, rule.value, at: path, binding: &names)
            }
            guard case .object = self else { return ["\(path): \(self) instead of an object"] }
            var found: [String] = []
            if let expected = members["$keys"], Set(expected.elements.compactMap(\.text)) != keys {
                found.append("\(path): members \(keys.sorted()) instead of \(expected)")
            }
            for (key, value) in members.sorted(by: { $0.key < $1.key }) where key != "$keys" {
                found += self[key].mismatches(value, at: "\(path).\(key)", binding: &names)
            }
            return found
        case (.array(let expected), .array(let elements)):
            guard expected.count == elements.count else {
                return ["\(path): \(elements.count) elements instead of \(expected.count): \(self)"]
            }
            return expected.indices.flatMap { index in
                elements[index].mismatches(
                    expected[index],
                    at: "\(path)[\(index)]",
                    binding: &names
                )
            }
        default:
            return isEqual(to: pattern) ? [] : ["\(path): \(self) instead of \(pattern)"]
        }
    }

    private func mismatches(
        _ rule: String,
        _ value: JSON,
        at path: String,
        binding names: inout [String: JSON]
    ) -> [String] {
        let holds: Bool
        switch rule {
        case "$any": holds = self != .null
        case "$absent": holds = self == .null
        case "$bind":
            holds = self != .null
            names[value.text ?? ""] = self
        case "$starts": holds = text?.hasPrefix(value.text ?? "") ?? false
        case "$has": holds = text?.contains(value.text ?? "") ?? false
        case "$count": holds = Int64(elements.count) == value.integer
        case "$not": holds = !isEqual(to: value)
        case "$set":
            holds =
                elements.count == value.elements.count
                && value.elements.allSatisfy { wanted in
                    elements.contains { element in
                        var unused = names
                        return element.mismatches(wanted, binding: &unused).isEmpty
                    }
                }
        default: return ["\(path): there is no rule \(rule)"]
        }
        return holds ? [] : ["\(path): \(self) instead of \(rule) \(value)"]
    }

    /// Returns whether two values are equal, including whole numbers with and without a fraction.
    private func isEqual(to other: JSON) -> Bool {
        switch (self, other) {
        case (.int(let first), .double(let second)), (.double(let second), .int(let first)):
            Double(first) == second
        default: self == other
        }
    }
}
