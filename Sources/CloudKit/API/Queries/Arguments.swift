#if !canImport(ObjectiveC)
public import Foundation

// On Apple platforms every object is an argument of a format, and Swift's values become objects where
// code writes `as CVarArg`, as Xcode offers. Here they conform themselves. `%@` prints what they
// describe; predicates take the value itself.

extension NSObject: @retroactive CVarArg, @retroactive _CVarArgObject {
    /// The text that stands for the object in a printed format.
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
    /// The text that stands for the date in a printed format.
    public var _cVarArgObject: any CVarArg { printed }

    /// Nothing: formats take the text.
    public var _cVarArgEncoding: [Int] { [0] }
}

extension UUID: @retroactive CVarArg, @retroactive _CVarArgObject {
    /// The text that stands for the identifier in a printed format.
    public var _cVarArgObject: any CVarArg { printed }

    /// Nothing: formats take the text.
    public var _cVarArgEncoding: [Int] { [0] }
}

extension Data: @retroactive CVarArg, @retroactive _CVarArgObject {
    /// The text that stands for the bytes in a printed format.
    public var _cVarArgObject: any CVarArg { printed }

    /// Nothing: formats take the text.
    public var _cVarArgEncoding: [Int] { [0] }
}

extension Array: @retroactive CVarArg, @retroactive _CVarArgObject {
    /// The text that stands for the list in a printed format.
    public var _cVarArgObject: any CVarArg { printed }

    /// Nothing: formats take the text.
    public var _cVarArgEncoding: [Int] { [0] }
}

extension Set: @retroactive CVarArg, @retroactive _CVarArgObject {
    /// The text that stands for the set in a printed format.
    public var _cVarArgObject: any CVarArg { printed }

    /// Nothing: formats take the text.
    public var _cVarArgEncoding: [Int] { [0] }
}
#endif
