#if !canImport(ObjectiveC)
public import Foundation

// On Apple platforms every object is an argument of a format, and Swift's values become objects
// where code writes `as CVarArg`, as Xcode offers. Here they conform directly. `%@` prints their
// description; predicates take the value itself.

extension NSObject: @retroactive CVarArg, @retroactive _CVarArgObject {
    /// The text that represents the object in a printed format.
    public var _cVarArgObject: any CVarArg { description._cVarArgObject }

    /// The object's address.
    public var _cVarArgEncoding: [Int] {
        [Int(bitPattern: Unmanaged.passUnretained(self).toOpaque())]
    }
}

extension CVarArg where Self: CustomStringConvertible {
    fileprivate var printed: any CVarArg { description._cVarArgObject }
}

extension Date: @retroactive CVarArg, @retroactive _CVarArgObject {
    /// The text that represents the date in a printed format.
    public var _cVarArgObject: any CVarArg { printed }

    /// The encoded argument: empty, because formats use the text.
    public var _cVarArgEncoding: [Int] { [0] }
}

extension UUID: @retroactive CVarArg, @retroactive _CVarArgObject {
    /// The text that represents the UUID in a printed format.
    public var _cVarArgObject: any CVarArg { printed }

    /// The encoded argument: empty, because formats use the text.
    public var _cVarArgEncoding: [Int] { [0] }
}

extension Data: @retroactive CVarArg, @retroactive _CVarArgObject {
    /// The text that represents the data in a printed format.
    public var _cVarArgObject: any CVarArg { printed }

    /// The encoded argument: empty, because formats use the text.
    public var _cVarArgEncoding: [Int] { [0] }
}

extension Array: @retroactive CVarArg, @retroactive _CVarArgObject {
    /// The text that represents the array in a printed format.
    public var _cVarArgObject: any CVarArg { printed }

    /// The encoded argument: empty, because formats use the text.
    public var _cVarArgEncoding: [Int] { [0] }
}

extension Set: @retroactive CVarArg, @retroactive _CVarArgObject {
    /// The text that represents the set in a printed format.
    public var _cVarArgObject: any CVarArg { printed }

    /// The encoded argument: empty, because formats use the text.
    public var _cVarArgEncoding: [Int] { [0] }
}
#endif
