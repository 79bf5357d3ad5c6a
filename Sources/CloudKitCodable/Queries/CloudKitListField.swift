/// A type of property whose field is a list.
public protocol CloudKitListField<Element> {
    /// The type of the elements.
    associatedtype Element
}

extension Array: CloudKitListField {}
extension Set: CloudKitListField {}
extension Optional: CloudKitListField where Wrapped: CloudKitListField {
    /// The type of the elements.
    public typealias Element = Wrapped.Element
}
