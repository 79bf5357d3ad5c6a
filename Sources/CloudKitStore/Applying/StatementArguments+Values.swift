import GRDB

extension StatementArguments {
    /// Values in the order of the question marks.
    ///
    /// The initializer for elements of one type reads each through a key path, which takes longer
    /// than to bind it.
    init(values: [DatabaseValue]) {
        self.init(values.map { $0 as (any DatabaseValueConvertible)? })
    }
}
