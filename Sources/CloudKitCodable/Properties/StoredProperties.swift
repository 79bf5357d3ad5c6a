#if !canImport(Darwin)
@_spi(Reflection) import Swift
#endif

/// The stored properties of a type, as the compiler wrote them down: names and types, no values.
///
/// They say early which records a value will ask for. Nothing depends on them: what they do not
/// tell, because a coding key has another name, is found when the value is decoded.
enum StoredProperties {
    /// The stored properties; none where the platform's standard library does not tell them.
    static func of(_ type: Any.Type) -> [KnownProperty] {
        #if canImport(Darwin)
        return []
        #else
        var properties: [KnownProperty] = []
        // A class says so, or nothing is found.
        let options = _EachFieldOptions(rawValue: type is AnyClass ? 1 : 0)
        _forEachField(of: type, options: options) { name, _, type, _ in
            properties.append(KnownProperty(String(cString: name), type))
            return true
        }
        return properties
        #endif
    }
}
