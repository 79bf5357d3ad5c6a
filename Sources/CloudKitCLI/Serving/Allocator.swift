import Foundation

/// The C library's allocator of memory.
enum Allocator {
    /// Lets large blocks return to the system as soon as they are released.
    ///
    /// By default the GNU C library keeps blocks of up to 32 MiB after some were released, in an
    /// arena for each thread: a server that has sent a few large responses would hold several times
    /// their memory from then on.
    static func returnLargeBlocks() {
        #if os(Linux)
        // The module of the C library lacks malloc.h, which has this function and M_MMAP_THRESHOLD;
        // other C libraries than GNU lack the function too.
        guard let symbol = dlsym(nil, "mallopt") else { return }
        typealias Function = @convention(c) (CInt, CInt) -> CInt
        _ = unsafeBitCast(symbol, to: Function.self)(-3, 1 << 20)
        #endif
    }
}
