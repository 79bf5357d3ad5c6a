/// An enumeration stored by its raw value, with a case for raw values that this version of the app
/// does not know.
///
/// ```swift
/// // A status that a later version of the app adds is read as `unknown`.
/// enum Status: String, CloudKitStringEnum {
///     case open, done, unknown
///
///     static var cloudKitFallbackCase: Status? { .unknown }
/// }
/// ```
public protocol CloudKitEnum {
    /// The case that represents unknown raw values; when nil, they are an error.
    static var cloudKitFallbackCase: Self? { get }
}

extension CloudKitEnum where Self: CaseIterable {
    /// The first case.
    public static var cloudKitFallbackCase: Self? { allCases.first }
}

/// An enumeration stored as a string.
public protocol CloudKitStringEnum: Codable, RawRepresentable, CloudKitEnum
where RawValue == String {}

/// An enumeration stored as an integer.
public protocol CloudKitIntEnum: Codable, RawRepresentable, CloudKitEnum where RawValue == Int {}
