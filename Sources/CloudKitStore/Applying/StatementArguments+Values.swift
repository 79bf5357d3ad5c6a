import GRDB

extension StatementArguments {
    /// Creates arguments from values in the order of the question marks.
    ///
    /// GRDB's generic initializer reads each element through a key path, which takes longer than
    /// binding it.
    init(values: [DatabaseValue]) {
        self.init(values.map { $0 as (any DatabaseValueConvertible)? })
    }
}
