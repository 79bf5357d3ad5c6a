// Comparing metatypes costs a nanosecond where a dynamic cast costs fifty, and the coders ask for the
// type of every value. Inlined, a comparison is all that is left of these.

/// Returns a value as the type that it is known by; nil when that is another type.
///
/// No dynamic cast: the value's static type is compared. A subclass's object in a variable of its superclass
/// is of another type. The value of an existential has its own type, because Swift opens it in the call.
@inlinable
@inline(__always)
package func exactCast<Value, Result>(_ value: Value, to type: Result.Type) -> Result? {
    guard Value.self == Result.self else { return nil }
    // The comparison held, so that both names are names of one type.
    return unsafeBitCast(value, to: Result.self)
}

/// Calls a function with a value as the type that it is known by, without a copy; nil when that is
/// another type, and the function is not called.
@inlinable
@inline(__always)
package func withExactCast<Value, Exact, Result>(
    _ value: Value,
    to type: Exact.Type,
    _ body: (Exact) throws -> Result
) rethrows -> Result? {
    guard Value.self == Exact.self else { return nil }
    return try withUnsafePointer(to: value) { pointer in
        // The comparison held, so that the pointer is bound to the type already.
        try pointer.withMemoryRebound(to: Exact.self, capacity: 1) { try body($0.pointee) }
    }
}
