#if Macros
import SwiftCompilerPlugin
import SwiftSyntaxMacros

@main
struct MacroPlugin: CompilerPlugin {
    let providingMacros: [any Macro.Type] = [CloudKitRecordMacro.self, CloudKitFieldMacro.self]
}
#else
/// An empty program, because without the trait there are no macros.
@main
enum MacroPlugin {
    static func main() {}
}
#endif
