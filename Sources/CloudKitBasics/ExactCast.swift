// Comparing metatypes takes a nanosecond, a dynamic cast fifty, and the coders query the type of
// every value. Inlined, these functions reduce to a comparison.

/// Returns a value as its static type; nil if that is another type.
///
/// There is no dynamic cast: the value's static type is compared. A subclass's object in a variable of its
/// superclass is of another type. The value of an existential has its own type, because Swift opens it in
/// the call.
@inlinable
@inline(__always)
package func exactCast<Value, Result>(_ value: Value, to type: Result.Type) -> Result? {
    guard Value.self == Result.self else { return nil }
    // The comparison succeeded, so both names denote one type.
    return unsafeBitCast(value, to: Result.self)
}

/// Calls a function with a value as its static type, without a copy; returns nil, without calling
/// the function, if that is another type.
@inlinable
@inline(__always)
package func withExactCast<Value, Exact, Result>(
    _ value: Value,
    to type: Exact.Type,
    _ body: (Exact) throws -> Result
) rethrows -> Result? {
    guard Value.self == Exact.self else { return nil }
    return try withUnsafePointer(to: value) { pointer in
        // The comparison succeeded, so the pointer is already bound to the type.
        try pointer.withMemoryRebound(to: Exact.self, capacity: 1) { try body($0.pointee) }
    }
}
