#if !canImport(Darwin)
@_spi(Reflection) import Swift
#endif

/// The stored properties of a type, as the compiler recorded them: names and types, no values.
///
/// They show early which records a value will request. Nothing depends on them: a property that they
/// miss, because its coding key has another name, is found when the value is decoded.
enum StoredProperties {
    /// Returns the stored properties; none if the platform's standard library does not report them.
    static func of(_ type: Any.Type) -> [KnownProperty] {
        #if canImport(Darwin)
        return []
        #else
        var properties: [KnownProperty] = []
        // Without the option for classes, nothing is found in a class.
        let options = _EachFieldOptions(rawValue: type is AnyClass ? 1 : 0)
        _forEachField(of: type, options: options) { name, _, type, _ in
            properties.append(KnownProperty(String(cString: name), type))
            return true
        }
        return properties
        #endif
    }
}
